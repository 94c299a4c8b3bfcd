// Looks at the page in headless Chromium, as an operator does. Run by page_test.py: page_browser.mjs CHECKS URL
// Every check is a function below; CHECKS names them, separated by commas. Ends with status 1 at the first that fails.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(process.env.HEDDLE_PAGE_PACKAGES + '/');
const { chromium } = require('playwright-core');
const [checks, base] = process.argv.slice(2);

const browser = await chromium.launch({
  executablePath: process.env.HEDDLE_CHROMIUM,
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
const complaints = [];
page.on('pageerror', (error) => complaints.push(error.message));
page.on('console', (message) => {
  // Asking for what a daemon has not is how the page finds out.
  if (message.type() === 'error' && !/status of (40[49]|501)/.test(message.text())) complaints.push(message.text());
});
const outside = [];
page.on('request', (request) => {
  if (!request.url().startsWith(base)) outside.push(request.url());
});

function heddle(...args) {
  return JSON.parse(execFileSync(process.env.HEDDLE_PROGRAM, ['--json', ...args], { maxBuffer: 1 << 28 }).toString());
}
/** Waits until a function in the page returns something true, and returns it. */
async function until(what, inPage, argument) {
  return page.waitForFunction(inPage, argument, { timeout: 20000 }).then((handle) => handle.jsonValue(), (error) => {
    throw new Error(`${what}: ${error.message}`);
  });
}
async function visit(hash) {
  await page.goto(`${base}/${hash}`);
  await until('live figures', () => window.heddle?.store.live?.sweep > 0);
}
/** Pixels of the drawing that are not ground, and how many colours they have. */
async function drawn() {
  return page.evaluate(() => {
    const source = document.querySelector('.map-gl');
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [source.width, source.height];
    const context = copy.getContext('2d');
    context.drawImage(source, 0, 0);
    const data = context.getImageData(0, 0, copy.width, copy.height).data;
    const colours = new Set();
    const at = (i) => (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
    const ground = at(0);
    let pixels = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (at(i) === ground) continue;
      ++pixels;
      colours.add(at(i));
    }
    return { pixels, colours: colours.size };
  });
}
/** Where a node is drawn, in the window. */
async function placeOf(name) {
  return page.evaluate((wanted) => {
    const { store } = window.heddle;
    const stage = document.querySelector('.map-stage').getBoundingClientRect();
    const map = window.heddle.view().map;
    const node = store.topology.nodes.name.indexOf(wanted);
    const [x, y] = map.placeOf(node);
    return { x: stage.left + x, y: stage.top + y };
  }, name);
}

const all = {
  async map() {
    await visit('#/map');
    await until('a drawing', () => window.heddle.view()?.map?.frames > 1);
    const { pixels, colours } = await drawn();
    assert.ok(pixels > 2000, `only ${pixels} pixels are drawn`);
    assert.ok(colours > 5, `only ${colours} colours`);
    const expected = heddle('status').fabric;
    const got = await page.evaluate(() => ({ links: window.heddle.store.topology.linkCount, nodes: window.heddle.store.topology.nodeCount }));
    assert.equal(got.links, expected.links);
    assert.equal(got.nodes, expected.switches + expected.channel_adapters);
    for (const overlay of ['congestion', 'locality', 'errors', 'bits', 'power', 'qos']) {
      await visit(`#/map?overlay=${overlay}`);
      assert.equal(await page.locator('.picker [aria-checked=true]').count(), 1);
      assert.ok((await drawn()).pixels > 1000, `${overlay} draws nothing`);
      assert.ok((await page.locator('.legend').innerText()).length > 10, `${overlay} has no legend`);
    }
  },

  /** Each figure of `heddle links --json` stands in the page's frame of the same sweep, to a thousandth. */
  async numbers() {
    await visit('#/links');
    await page.evaluate(() => {
      const { store } = window.heddle;
      window.kept = new Map();
      const keep = () => window.kept.set(store.live.sweep, { utilization: [...store.live.utilization], congestion: [...store.live.congestion], errors: [...store.live.errors], least: store.live.least });
      keep();
      store.on('frame', keep);
    });
    let answer;
    let frame;
    for (let tries = 0; tries < 5 && !frame; ++tries) {
      answer = heddle('links');
      await until('the sweep that heddle saw', (sweep) => window.heddle.store.live.sweep >= sweep, answer.sweep);
      frame = await page.evaluate((sweep) => window.kept.get(sweep), answer.sweep);
    }
    assert.ok(frame, `the page has no frame of sweep ${answer.sweep}`);
    const links = await page.evaluate(() => {
      const { topology } = window.heddle.store;
      return Array.from({ length: topology.linkCount }, (_, l) => [topology.nodes.guid[topology.links.a[l]], topology.links.a_port[l]].join('/'));
    });
    const place = new Map(links.map((name, l) => [name, l]));
    assert.equal(answer.links.length, links.length);
    let busy = 0;
    const near = (got, wanted, what) => {
      if (wanted === null) return assert.equal(got, -1, what);
      if (wanted > 0.01) ++busy;
      return assert.ok(Math.abs(got / 1000 - wanted) <= 0.0006 + (frame.least - 1) / 1000, `${what}: ${got} thousandths on the page, ${wanted} by heddle`);
    };
    for (const link of answer.links) {
      const l = place.get(`${link.a.guid}/${link.a.port}`);
      assert.notEqual(l, undefined, link.name);
      near(frame.utilization[2 * l], link.a_to_b.utilization, link.name);
      near(frame.utilization[2 * l + 1], link.b_to_a.utilization, link.name);
      near(frame.congestion[2 * l], link.a_to_b.congestion, link.name);
      assert.equal(frame.errors[2 * l], link.a_to_b.errors_total, link.name);
    }
    assert.ok(busy > 0, 'no link has any traffic: nothing has been compared');
  },

  /** What the link's own view says is what the daemon said of the same sweep. */
  async link() {
    const busiest = heddle('links', '--sort', 'utilization', '--top', '1').links[0];
    await visit(`#/link/${busiest.a.guid}/${busiest.a.port}`);
    await until('figures', () => document.querySelector('.facts[data-sweep]'));
    const text = await page.locator('main').innerText();
    assert.ok(text.includes(`${busiest.width} ${busiest.speed}`), text);
    assert.ok(text.includes(busiest.a.node) && text.includes(busiest.b.node));
    assert.match(text, /Utilization\s+\d+\.\d %\s+\d+\.\d %/);
    await until('a profile', () => document.querySelectorAll('.chart canvas').length === 2);
    // A host is reached through the port that it hangs at, and through no other of its switch.
    const leaf = heddle('links', '--kind', 'host').links[0];
    await page.evaluate((where) => { location.hash = where; }, `#/link/${leaf.a.guid}/${leaf.a.port}`);
    await until('its figures', (name) => document.querySelector('h1').textContent.includes(name) && document.querySelector('.facts[data-sweep]'), leaf.a.node);
    const cells = await page.locator('.facts').first().locator('tr:has-text("Routes to") td').allInnerTexts();
    assert.deepEqual(cells.sort(), ['1 host', 'all']);
  },

  /** Sorting, filtering, and a URL that says so. */
  async table() {
    await visit('#/links');
    await until('rows', () => document.querySelectorAll('.table tbody tr').length > 5);
    const expected = heddle('links', '--kind', 'switch').matched ?? heddle('links', '--kind', 'switch').links.length;
    await page.selectOption('.toolbar select', 'switch');
    await until('switch links only', (n) => document.querySelector('.toolbar [role=status]').textContent.startsWith(String(n)), expected);
    await page.click('thead button:has-text("Link")');
    await page.click('thead button:has-text("Link")');
    const names = await page.locator('.table tbody td:first-child').allInnerTexts();
    assert.deepEqual(names, [...names].sort((a, b) => new Intl.Collator('en', { numeric: true }).compare(b, a)));
    assert.match(page.url(), /sort=-name/);
    assert.match(page.url(), /kind=switch/);
    await page.reload();
    await until('rows', () => document.querySelectorAll('.table tbody tr').length > 5);
    assert.deepEqual(await page.locator('.table tbody td:first-child').allInnerTexts(), names, 'the URL does not bring the same rows');
  },

  /** Name, GUID and LID, with the keyboard alone. */
  async search() {
    await visit('#/map');
    const node = heddle('nodes', '--type', 'switch').nodes[1];
    for (const words of [node.name, node.guid, `lid ${node.lid}`]) {
      await page.evaluate(() => { location.hash = '#/links'; });
      await page.keyboard.press('Escape');
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press('/');
      await page.keyboard.type(words);
      await until('what was searched', () => document.querySelectorAll('#found [role=option]').length > 0);
      await page.keyboard.press('Enter');
      await until(`the node by ${words}`, (guid) => location.hash.includes(guid), node.guid);
      await until('its view', (name) => document.querySelector('h1')?.textContent === name, node.name);
    }
  },

  /** Each node is the first that is found by the name that the command line shows for it, and by its GUID. */
  async names() {
    await visit('#/links');
    const nodes = heddle('nodes').nodes.map(({ name, guid }) => ({ name, guid }));
    assert.equal(new Set(nodes.map((node) => node.name)).size, nodes.length, 'names are not unique');
    const missed = await page.evaluate((wanted) => {
      const input = document.querySelector('input[type=search]');
      const first = (words) => {
        input.value = words;
        input.dispatchEvent(new Event('input'));
        return document.querySelector('#found [role=option]')?.textContent ?? 'nothing';
      };
      return wanted.flatMap(({ name, guid }) => [name, guid].map((words) => ({ words, guid, found: first(words) })))
        .filter(({ guid, found }) => !found.includes(guid));
    }, nodes);
    assert.deepEqual(missed.slice(0, 5), [], `${missed.length} of ${2 * nodes.length} are not found`);
  },

  async keyboard() {
    await visit('#/map');
    for (const [key, view] of [['l', 'links'], ['n', 'nodes'], ['s', 'sets'], ['h', 'health'], ['c', 'cabling'], ['w', 'what-if'], ['a', 'accept'], ['j', 'jobs'], ['t', 'status'], ['p', 'plan'], ['e', 'events'], ['?', 'help'], ['m', 'map']]) {
      await page.keyboard.press(key);
      await until(`the view of ${key}`, (wanted) => location.hash.startsWith(`#/${wanted}`), view);
      if (view !== 'help') await until('its tab', (wanted) => document.querySelector('nav [aria-current=page]')?.dataset.view === wanted, view);
    }
    await page.focus('.map-stage');
    const before = await page.evaluate(() => window.heddle.view().map.camera);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('+');
    const after = await page.evaluate(() => window.heddle.view().map.camera);
    assert.ok(after[0] > before[0] && after[2] > before[2], `${before} then ${after}`);
    await page.keyboard.press('0');
    await page.keyboard.press('o');
    await until('the next overlay', () => location.hash.includes('overlay=congestion'));
    await page.keyboard.press('l');
    await until('rows', () => document.querySelectorAll('.table tbody tr').length > 5);
    await page.focus('.table-scroller');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await until('a link', () => location.hash.startsWith('#/link/'));
  },

  /** Zoom, selection and overlay come back from the URL. */
  async deep_links() {
    await visit('#/map?overlay=congestion');
    const node = heddle('nodes', '--type', 'switch').nodes[0];
    const place = await placeOf(node.name);
    await page.mouse.click(place.x, place.y);
    await until('a card', (name) => document.querySelector('.card h2')?.textContent === name, node.name);
    await page.mouse.wheel(0, -400);
    await until('the place in the URL', () => location.hash.includes('at='));
    const url = page.url();
    const camera = await page.evaluate(() => window.heddle.view().map.camera);
    const other = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await other.goto(url);
    await other.waitForFunction((name) => document.querySelector('.card h2')?.textContent === name, node.name);
    await other.waitForFunction((wanted) => window.heddle.view().map.camera.every((v, i) => Math.abs(v - wanted[i]) < 0.01 * Math.abs(wanted[i]) + 0.01), camera);
    assert.equal(await other.locator('.picker [aria-checked=true]').innerText(), 'Congestion');
    await other.close();
    await visit('#/node/0xdead');
    assert.match(await page.locator('h1').innerText(), /Nothing there/);
  },

  /** Names that are markup, control sequences or half a character are shown, letter by letter, wherever names stand. */
  async hostile() {
    await visit('#/map');
    const nodes = heddle('nodes').nodes;
    assert.deepEqual(await page.evaluate(() => window.heddle.store.topology.nodes.name), nodes.map((node) => node.name));
    const hostile = nodes.filter((node) => node.type === 'switch').slice(0, 6);
    assert.ok(hostile[0].name.startsWith('<img'), hostile[0].name);
    for (const node of hostile) {
      await page.evaluate((guid) => { location.hash = `#/node/${guid}`; }, node.guid);
      await until('its name as text', (name) => document.querySelector('h1')?.textContent === name, node.name);
      await page.keyboard.press('/');
      await page.keyboard.insertText(node.name);
      await until('it among what was found', (name) => [...document.querySelectorAll('#found [role=option] span')].some((e) => e.textContent === name), node.name);
      await page.keyboard.press('Escape');
      const link = heddle('links').links.find((each) => each.a.guid === node.guid);
      await page.evaluate((where) => { location.hash = where; }, `#/link/${link.a.guid}/${link.a.port}`);
      await until('the link', () => document.querySelector('.facts[data-sweep]'));
      assert.ok((await page.locator('h1').textContent()).includes(node.name));
      await page.evaluate((guid) => { location.hash = `#/map?sel=${guid}`; }, node.guid);
      await until('its card', (name) => document.querySelector('.card h2')?.textContent === name, node.name);
    }
    for (const view of ['links', 'nodes', 'sets', 'status']) {
      await page.evaluate((where) => { location.hash = `#/${where}`; }, view);
      await until(view, (where) => document.querySelector('nav [aria-current=page]')?.dataset.view === where, view);
    }
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator('main img, main script, main b').count(), 0);
  },

  /**
   * A link that an operator turns off: drawn so within two seconds of the daemon's knowing it, in its own view, and in the log.
   * What is measured is what the daemon does: each side notes when, by the one clock of this machine.
   */
  async forced_off() {
    await visit('#/map?overlay=power');
    const link = heddle('links', '--kind', 'switch').links.at(-1);
    const port = `${link.a.guid}/${link.a.port}`;
    await until('the states of links', () => window.heddle.store.live.power.some((state) => state > 0));
    await page.evaluate(([guid, number]) => {
      const { store, view } = window.heddle;
      const l = store.topology.linkAt(store.topology.node(guid), number);
      const { map } = view();
      window.shown = null;
      const look = (pictures) => {
        if (map.pictures > pictures && !map.painter.busy) window.shown = Date.now();
        else requestAnimationFrame(() => look(pictures));
      };
      const stop = store.on('frame', () => {
        if (store.live.power[l] !== 2) return;
        stop();
        look(map.pictures);
      });
    }, [link.a.guid, link.a.port]);
    execFileSync(process.env.HEDDLE_PROGRAM, ['link', 'off', link.name, '--reason', 'a test']);
    const answer = () => fetch(`${base}/v1/page/link?name=${port}`).then((r) => r.json());
    const end = Date.now() + 30000;
    while ((await answer()).regulation?.state !== 'off') assert.ok(Date.now() < end, 'the daemon does not turn the link off');
    const known = Date.now();
    const shown = await until('the link as off', () => window.shown);
    console.log(`drawn ${shown - known} ms after the daemon was seen to know it`);
    assert.ok(shown - known < 2000, `drawn after ${shown - known} ms`);
    assert.ok((await page.locator('.legend').innerText()).includes('off by an operator'));
    await page.evaluate((where) => { location.hash = `#/link/${where}`; }, port);
    await until('its state and the reason', () => /Regulation\s+off for [^]*operator: off[^]*a test/.test(document.querySelector('main').innerText));
    assert.match(await page.locator('.facts').first().innerText(), /Routes to\s+nobody\s+nobody/);
    await page.evaluate(() => { location.hash = '#/events'; });
    await until('an event', (name) => document.querySelector('main').innerText.includes(name.split(' -- ')[0]), link.name);
    await page.evaluate(() => { location.hash = '#/plan'; });
    await until('power', () => /power at this moment/.test(document.querySelector('main').innerText));
    // A plan is made anew every few seconds, so that both sides are looked at until they speak of the same one.
    for (let tries = 0; ; ++tries, await page.waitForTimeout(100)) {
      const held = heddle('plan').plan?.held ?? [];
      const said = await page.locator('main').innerText();
      if (held.length > 0 && held.every(({ rule, links }) => said.includes(`${links} of`) && said.includes(rule))) break;
      assert.ok(tries < 200, `${JSON.stringify(held)} is not in ${said}`);
    }
  },

  /** Each finding of `heddle health`, its text and its link; and the bit error rates, the worst first. */
  async health() {
    // It ends with 1: something is wrong.
    const ask = () => JSON.parse(spawnSync(process.env.HEDDLE_PROGRAM, ['--json', 'health']).stdout.toString());
    // What a finding says has counts and rates of the last sample, so that both sides are looked at until they speak of the same one.
    const missing = (findings, articles) => {
      if (articles.length !== findings.length) return `${articles.length} findings of ${findings.length}`;
      for (const [i, { where, rule, what, advice }] of findings.entries()) {
        for (const part of [where, rule, what, advice]) if (!articles[i].includes(part)) return `'${part}' is not in '${articles[i]}'`;
      }
      return null;
    };
    await visit('#/health');
    await until('findings', () => document.querySelector('article.finding'));
    let said = ask();
    for (let tries = 0; ; ++tries, await page.waitForTimeout(100)) {
      const lacks = missing(said.findings, await page.locator('article.finding').allInnerTexts());
      if (!lacks) break;
      assert.ok(tries < 60, lacks);
      said = ask();
    }
    const wouldGo = await page.locator('main').innerText();
    for (const { link } of said.isolate_links) assert.ok(wouldGo.includes(link), wouldGo);
    await page.locator('article.finding a').first().click();
    await until('the view of its link', (name) => document.querySelector('h1').textContent.includes(name), said.findings[0].at.split('/')[0]);
    await page.keyboard.press('h');
    await until('the key of the view', () => location.hash === '#/health');
  },

  /** Bit error rates as `heddle health --bits` has them: in the table of links, in a link's view, and on the map. */
  async bits() {
    // The fault has ended: the more bits have passed since, the lower the rate, so that it is asked for each time.
    const rate = () => {
      const worst = heddle('health', '--bits').ports.find(({ port }) => port === 'leaf-0/6');
      return Math.max(worst.effective, worst.effective_long);
    };
    assert.ok(rate() > 0);
    const shows = async (what) => {
      let shown;
      for (let tries = 0; tries < 60; ++tries, await page.waitForTimeout(100)) {
        shown = await page.locator(what).innerText();
        const now = rate();
        if ([...shown.matchAll(/\d\.\de-\d+/g)].some(([each]) => Math.abs(Number(each) / now - 1) < 0.2)) return shown;
      }
      return assert.fail(`${rate()} is not in '${shown}'`);
    };
    await visit('#/links?q=leaf-0%2F6');
    await until('one row', () => document.querySelectorAll('.table tr[aria-rowindex]').length === 1);
    const shown = await shows('.table tbody');
    assert.ok(/\b0\b/.test(shown), `the other direction has none: '${shown}'`);
    await page.locator('.table tbody a').first().click();
    await until('its own view', () => document.querySelector('dd.bit-errors'));
    await shows('dd.bit-errors');
    assert.ok((await page.locator('dl').innerText()).includes('heddle queues leaf-0/6') || (await page.locator('dl').innerText()).includes('heddle queues spine'));
    await visit('#/map?overlay=bits');
    assert.ok((await page.locator('.legend').innerText()).includes('1e-12'));
    const coloured = await page.evaluate(() => [...window.heddle.store.live.bits].filter((bits) => bits > 0).length);
    assert.equal(coloured, 1, 'one direction of one link');
  },

  /** The baseline, health and where notices go, as `heddle status` says it. */
  async standing() {
    const status = heddle('status');
    await visit('#/status');
    await until('the baseline', () => document.querySelector('dd.baseline')?.textContent.includes('as planned'));
    const baseline = await page.locator('dd.baseline').innerText();
    for (const part of [status.baseline.name, status.baseline.by, `${status.baseline.as_planned} of ${status.baseline.planned} cables as planned`, `${status.baseline.differ} differ`]) assert.ok(baseline.includes(part), `'${part}' is not in '${baseline}'`);
    assert.ok((await page.locator('dd.health').innerText()).includes('findings at'));
    const destinations = await page.locator('li.destination').allInnerTexts();
    assert.equal(destinations.length, 2);
    assert.match(destinations[0], /^log \(.*\): works; \d+ sent/);
    assert.match(destinations[1], /^oncall \(.*\): does not work: .+; 0 sent/);
  },

  /** A bad link that health has taken out, and one that an operator keeps in for a while (page_test.py). */
  async out_of_use() {
    const { isolated_links: out } = JSON.parse(spawnSync(process.env.HEDDLE_PROGRAM, ['--json', 'health']).stdout.toString());
    assert.equal(out.length, 1, JSON.stringify(out));
    await visit('#/health');
    await until('the link that is out', ({ link, reason }) => {
      const said = document.querySelector('main').innerText;
      return said.includes('Out of use until they are tried again') && said.includes(link) && said.includes(reason);
    }, out[0]);
    const { wishes } = heddle('status');
    await visit('#/status');
    await until('the wishes', (many) => document.querySelectorAll('li.wish').length === many, wishes.length);
    const lines = await page.locator('li.wish').allInnerTexts();
    for (const { link, wish, by, reason } of wishes) {
      const line = lines.find((each) => each.startsWith(`${link}: ${wish}, by ${by}, ends in `));
      assert.ok(line?.endsWith(reason), `${link}: ${wish}, by ${by} ... ${reason}: ${lines}`);
    }
    assert.deepEqual(wishes.map(({ wish }) => wish).sort(), ['off', 'pin']);
    assert.ok((await page.locator('dd.health').innerText()).includes('bad links out of use: 1'));
  },

  /** What is drained, as `heddle drain` says it, and which job loads which link, as `heddle jobs` does. */
  async drained_and_jobs() {
    const { drains } = heddle('drain');
    assert.equal(drains.length, 1, JSON.stringify(drains));
    await visit('#/status');
    await until('what is drained', () => document.querySelector('li.drain.safe'));
    const line = await page.locator('li.drain').innerText();
    for (const part of [drains[0].what, 'safe to pull', drains[0].by, drains[0].reason]) assert.ok(line.includes(part), line);
    const { jobs } = heddle('jobs');
    assert.ok(jobs.length > 1, JSON.stringify(jobs));
    await visit('#/jobs');
    await until('rows', (rows) => document.querySelectorAll('.table tr[aria-rowindex]').length === rows, jobs.length);
    // Which link is the worst changes from sample to sample: both are asked until they speak of the same one.
    let shown, told;
    for (let tries = 0; tries < 60; ++tries) {
      told = heddle('jobs').jobs;
      shown = await page.locator('.table tbody').innerText();
      if (told.every(({ job, worst_link }) => shown.includes(job) && shown.includes(worst_link.from))) return;
      await page.waitForTimeout(100);
    }
    assert.fail(`${JSON.stringify(told)} is not what '${shown}' says`);
  },

  /** What differs from the baseline, as `heddle fabric verify` says it. */
  async cabling() {
    const said = JSON.parse(spawnSync(process.env.HEDDLE_PROGRAM, ['--json', 'fabric', 'verify']).stdout.toString());
    assert.equal(said.same, false);
    await visit('#/cabling');
    const differ = ['missing', 'swapped', 'unexpected', 'wrong_rate'].flatMap((kind) => said[kind].map((each) => ({ kind: kind.replace('_', ' '), ...each })));
    await until('rows', (rows) => document.querySelectorAll('.table tr[aria-rowindex]').length === rows, differ.length);
    const shown = await page.locator('.table tbody').innerText();
    for (const { kind, start, end, actual } of differ) {
      for (const part of [kind, `${start.node}/${start.port} -- ${end.node}/${end.port}`, actual ?? 'no cable']) assert.ok(shown.includes(part), `'${part}' is not in '${shown}'`);
    }
    assert.ok((await page.locator('.cabling').innerText()).includes(`${said.as_planned} of ${said.planned} cables as planned`));
  },

  /** The figures of `heddle what-if`, of a change and of every failure. */
  async what_if() {
    const cell = (title, column) => page.locator('table.what-if tr', { hasText: title }).locator('td').nth(column).innerText();
    await visit('#/what-if');
    await page.getByLabel('Taken out', { exact: true }).fill('spine-1');
    await page.locator('.what-if-form button').click();
    await until('an answer', () => document.querySelector('table.what-if'));
    assert.ok(page.url().includes('without=spine-1'), page.url());
    const { now, then } = heddle('what-if', '--without', 'spine-1');
    assert.equal(await cell('Busiest cable', 1), (then.largest_load / now.largest_load).toFixed(2));
    assert.equal(await cell('Hosts cut off', 1), '0');
    await this.what_if_with_files(cell);
    await visit('#/what-if?each=switch');
    await until('rows', () => document.querySelectorAll('table.what-if tbody tr').length > 1);
    const { failures } = heddle('what-if', '--fail-each', 'switch');
    const rows = await page.locator('table.what-if tbody tr').allInnerTexts();
    assert.equal(rows.length, failures.length);
    // Loads change, and with them the order of those that are as bad.
    for (const { without, cut_off, pairs_without_path } of failures) {
      const row = rows.find((text) => text.startsWith(`${without}\t`));
      assert.ok(row, `${without} is not in ${rows}`);
      assert.equal(row.split('\t')[1], String(cut_off.length));
      assert.equal(row.split('\t')[3], String(pairs_without_path));
    }
    await visit('#/what-if?without=nobody');
    await until('a refusal', () => document.querySelector('p.problem')?.textContent.includes('nobody'));
    // A link's view leads there.
    await visit('#/links?kind=switch');
    // Rows change their places with the loads.
    await until('a row', () => document.querySelector('.table tbody a'));
    await page.evaluate(() => { location.hash = document.querySelector('.table tbody a').getAttribute('href'); });
    await until('the way there', () => [...document.querySelectorAll('dd a')].some((a) => a.textContent === 'what if it failed?'));
    await page.evaluate(() => [...document.querySelectorAll('dd a')].find((a) => a.textContent === 'what if it failed?').click());
    await until('what is left without the link', () => document.querySelector('table.what-if'));
    assert.equal(await cell('Hosts cut off', 1), '0');
  },

  /** Part of `what_if`: with traffic, a job, roots, LIDs and QoS tables the figures are those that the command line has of the same files. */
  async what_if_with_files(cell) {
    const { HEDDLE_FLOWS: flows, HEDDLE_QOS_PLAN: plan } = process.env;
    const compare = async (what, ...options) => {
      await page.evaluate(() => document.querySelector('table.what-if')?.remove()); // the answer before
      await page.locator('.what-if-form button').click();
      await until(`an answer to ${what}`, () => document.querySelector('table.what-if'));
      const { now, then } = heddle('what-if', '--flows', flows, ...options);
      const said = await page.locator('.what-if tbody').innerText();
      assert.ok((await page.locator('main').innerText()).includes('Traffic: as given.'));
      assert.equal(await cell('Busiest cable', 1), (then.largest_load / now.largest_load).toFixed(2), `${what}: ${said}`);
      for (const [column, { traffic }] of [now, then].entries()) {
        assert.equal(await cell('Busiest link between switches', column), `${(100 * traffic.largest_share).toFixed(1)} %`, `${what}: ${said}`);
        assert.equal(await cell('Busiest link of a host', column), `${(100 * traffic.largest_share_of_hosts).toFixed(1)} %`, `${what}: ${said}`);
      }
      return then.traffic.largest_share;
    };
    const fresh = async () => {
      await visit('#/what-if');
      await page.reload(); // a form without what was asked before
      await page.locator('.what-if-form summary').click();
      await page.getByLabel('Traffic, from a file').setInputFiles(flows);
      await page.waitForFunction(() => document.querySelectorAll('.what-if-form textarea')[4].value !== '');
    };
    await fresh();
    await page.getByLabel('Jobs that come', { exact: true }).fill('host-[0-3,8-11]:all-to-all:0.5');
    const busy = await compare('a job', '--add-job', 'host-[0-3,8-11]:all-to-all:0.5');
    await page.getByLabel('Taken out', { exact: true }).fill('spine-1\nleaf-0/5');
    const worse = await compare('a job and less links', '--add-job', 'host-[0-3,8-11]:all-to-all:0.5', '--without', 'spine-1', '--without', 'leaf-0/5');
    assert.ok(worse > busy, `${worse} without a spine, ${busy} with it`);
    await fresh();
    await page.getByLabel('Routed by', { exact: true }).selectOption('updn');
    await page.getByLabel('Roots', { exact: true }).fill('spine-0');
    await compare('roots', '--engine', 'updn', '--roots', 'spine-0');
    await fresh();
    await page.getByLabel('LIDs of a host').selectOption('1');
    await compare('two LIDs a host', '--lmc', '1');
    await fresh();
    await page.getByLabel('QoS plan of all ports, from a file').setInputFiles(plan);
    await page.waitForFunction(() => document.querySelectorAll('.what-if-form textarea')[3].value !== '');
    await compare('QoS tables', '--qos', plan);
  },

  /** The report of `heddle accept`, part by part: of a plan with a cable too many (page_test.py), of the fabric as it is, without a baseline. */
  async accept() {
    const ask = (...args) => JSON.parse(spawnSync(process.env.HEDDLE_PROGRAM, ['--json', 'accept', ...args]).stdout.toString());
    const shown = async () => {
      await until('a report', () => document.querySelector('table.accept'));
      const cells = await page.locator('table.accept tbody tr:not(.details)').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
      return { sentence: await page.locator('p.sentence').innerText(), parts: Object.fromEntries(cells.map(([name, verdict, summary]) => [name, { verdict, summary }])), details: await page.locator('table.accept pre').allInnerTexts() };
    };
    // Tables grow older, and a finding says for how long it has been seen.
    const settled = (text) => text.replaceAll(/read back [\d.]+ \w+ ago|\(for [^)]*\)/g, '…');
    const compare = (report, said) => {
      assert.equal(report.sentence, said.accepted ? 'Accepted.' : said.judged ? 'Not accepted.' : 'Not accepted: not all of it could be judged.');
      assert.deepEqual(Object.keys(report.parts), Object.keys(said.parts));
      for (const [name, { verdict, summary }] of Object.entries(said.parts)) {
        assert.equal(report.parts[name].verdict, verdict.replace('_', ' '), name);
        assert.equal(settled(report.parts[name].summary), settled(summary), name);
      }
      const details = Object.values(said.parts).map((part) => part.details).filter((lines) => lines.length > 0);
      assert.deepEqual(report.details.map(settled), details.map((lines) => settled(lines.join('\n'))));
    };
    await visit('#/accept');
    assert.equal(await page.locator('table.accept').count(), 0, 'nothing is asked before somebody wants it');
    await page.locator('.what-if-form button').click();
    const report = await shown();
    assert.ok(page.url().endsWith('#/accept?least=50'), page.url());
    compare(report, ask());
    assert.equal(report.parts.cables.verdict, 'failed');
    assert.ok(report.details[0].includes('host-77'), report.details[0]);
    assert.equal(report.parts.routes.verdict, 'passed');
    assert.equal(report.parts.bandwidth.verdict, 'passed');
    // More is asked of the tables than they give.
    await page.getByLabel('Least share of each host, in per cent').fill('101');
    assert.equal(await page.evaluate(() => document.querySelector('.what-if-form input').checkValidity()), false);
    // As right as it is: the plan is the fabric itself.
    execFileSync(process.env.HEDDLE_PROGRAM, ['fabric', 'baseline', 'save']);
    const end = Date.now() + 20000;
    while (!heddle('status').baseline.compared) assert.ok(Date.now() < end, 'the baseline is not compared');
    await visit('#/accept?least=60');
    const now = await shown();
    compare(now, ask('--least', '60'));
    assert.equal(now.sentence, 'Accepted.');
    await page.locator('table.accept a', { hasText: 'cables' }).click();
    await until('the view of the cabling', () => location.hash === '#/cabling');
    // Nobody keeps a baseline: that is no yes.
    execFileSync(process.env.HEDDLE_PROGRAM, ['fabric', 'baseline', 'forget']);
    await visit('#/accept?least=50');
    const without = await shown();
    compare(without, ask());
    assert.equal(without.parts.cables.verdict, 'not judged');
  },

  /** A port whose QoS tables somebody has changed (page_test.py) is told on the map once the tables have been compared, and no other. */
  async drift() {
    const found = heddle('qos', 'show');
    assert.equal(found.differ.length, 1, JSON.stringify(found));
    const [{ guid, port }] = found.differ;
    await visit('#/map?overlay=qos');
    await until('the drift', () => window.heddle.store.live.drift.some((d) => d > 0));
    const drifting = await page.evaluate(() => {
      const { store } = window.heddle;
      const { topology } = store;
      const at = [...store.live.drift].flatMap((d, i) => (d > 0 ? [i] : []));
      return at.map((d) => (d % 2 === 0 ? topology.nodes.guid[topology.links.a[d >> 1]] + '/' + topology.links.a_port[d >> 1]
        : topology.nodes.guid[topology.links.b[d >> 1]] + '/' + topology.links.b_port[d >> 1]));
    });
    assert.deepEqual(drifting, [`${guid}${port.slice(port.lastIndexOf('/'))}`]);
    await until('its colour', () => {
      const { map } = window.heddle.view();
      return map.pictures > 0 && !map.pending;
    });
    const orange = await page.evaluate(() => {
      const source = document.querySelector('.map-gl');
      const copy = document.createElement('canvas');
      [copy.width, copy.height] = [source.width, source.height];
      const context = copy.getContext('2d');
      context.drawImage(source, 0, 0);
      const { data } = context.getImageData(0, 0, copy.width, copy.height);
      let pixels = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i] === 0xe6 && data[i + 1] === 0x9f && data[i + 2] === 0) ++pixels;
      return pixels;
    });
    assert.ok(orange > 20, `${orange} pixels of the colour of what differs`);
    const legend = await page.locator('.legend').innerText();
    assert.ok(legend.includes('differs') && !legend.includes('No tables'), legend);
  },

  /** A report (page_test.py has made it): drawn by itself, asking nobody for anything. */
  async report() {
    const file = process.env.HEDDLE_REPORT;
    const asked = [];
    const other = await browser.newPage({ viewport: { width: 1100, height: 900 } });
    other.on('request', (request) => asked.push(request.url()));
    other.on('pageerror', (error) => complaints.push(error.message));
    await other.goto(`file://${file}`);
    assert.deepEqual(asked, [`file://${file}`]);
    const pictures = await other.locator('svg').evaluateAll((all) => all.map((svg) => {
      const box = svg.getBoundingClientRect();
      return { width: box.width, height: box.height, shapes: svg.querySelectorAll('line, path, polyline, rect, circle').length };
    }));
    assert.ok(pictures.length >= 3, `only ${pictures.length} drawings`);
    for (const picture of pictures) assert.ok(picture.width > 100 && picture.height > 20 && picture.shapes > 0, JSON.stringify(picture));
    assert.ok(Math.max(...pictures.map((picture) => picture.shapes)) > 50, 'none of them is a map');
    const text = await other.locator('body').innerText();
    assert.ok(text.includes(process.env.HEDDLE_REPORT_SAYS), text.slice(0, 2000));
    await other.screenshot({ path: '/tmp/heddle-report.png', fullPage: true });
    await other.close();
  },

  /** A large tree from afar: pods as bundles, whose mean and worst are those of their links, and which open by zooming; names on paper. */
  async bundles() {
    await visit('#/map');
    const complete = () => until('a complete picture', () => {
      const { map } = window.heddle.view();
      return map.pictures > 0 && !map.pending;
    });
    await complete();
    const legend = page.locator('.legend');
    assert.match(await legend.innerText(), /Bands are the links between two parts/);
    // By the names that the generator gives: leaf-P-x and spine-P-x are pod P; core-G-x is cabled to the same switches as its fellows.
    const partOf = (node) => node.match(/^([a-z]+-\d+)-\d+$/)[1];
    const seen = await page.evaluate(() => {
      const { store } = window.heddle;
      const { map } = window.heddle.view();
      window.heddle.view().onFrame = () => {}; // the figures stay what they are
      const { topology, live } = store;
      const { bundles } = map.scene;
      return {
        afar: map.afar,
        links: Array.from({ length: topology.linkCount }, (_, l) => [topology.links.a[l], topology.links.b[l]].map((n) => topology.nodes.name[n])),
        utilization: [...live.utilization],
        bands: bundles.bands.map((band) => ({ ends: [band.a, band.b].map((p) => topology.nodes.name[bundles.parts[p].switches[0]]), away: band.away })),
        parts: bundles.parts.map((part) => part.switches.map((n) => topology.nodes.name[n])),
      };
    });
    assert.ok(seen.afar);
    for (const part of seen.parts) assert.equal(new Set(part.map(partOf)).size, 1, part.join());
    const expected = new Map();
    heddle('links', '--kind', 'switch').links.forEach(({ a, b }) => {
      const ends = [a.node, b.node].map(partOf).sort().join(' ');
      expected.set(ends, (expected.get(ends) ?? 0) + 1);
    });
    const got = new Map(seen.bands.map(({ ends, away }) => [ends.map(partOf).sort().join(' '), away.length]));
    assert.deepEqual([...got].sort(), [...expected].sort());
    // What the pointer is told of a band is the mean and the most of its links, each way.
    const index = seen.bands.findIndex(({ away }) => away.some((d) => seen.utilization[d] > 10));
    assert.ok(index >= 0, 'no traffic');
    const { ends, away } = seen.bands[index];
    for (const direction of away) assert.equal(partOf(seen.links[direction >> 1][direction % 2]), partOf(ends[0]));
    const figures = (directions) => {
      const known = directions.map((d) => seen.utilization[d]).filter((v) => v >= 0);
      const percent = (v) => `${(v / 10).toFixed(1)} %`;
      return `${percent(Math.round(known.reduce((sum, v) => sum + v, 0) / known.length))}, busiest ${percent(Math.max(...known))}`;
    };
    const rows = await page.evaluate((i) => {
      const { store } = window.heddle;
      store.past = Object.assign(Object.create(Object.getPrototypeOf(store.live)), store.live);
      for (const name of ['utilization', 'congestion', 'errors', 'state']) store.past[name] = store.live[name].slice();
      window.kept = { utilization: [...store.past.utilization] };
      const view = window.heddle.view();
      view.map.events.select({ kind: 'band', index: i });
      return { text: [...document.querySelectorAll('.card dd')].map((e) => e.textContent), utilization: window.kept.utilization };
    }, index);
    seen.utilization = rows.utilization; // a sweep may have come meanwhile
    assert.ok(rows.text[1].startsWith(figures(away)), `${rows.text[1]}, and not ${figures(away)}`);
    assert.ok(rows.text[2].startsWith(figures(away.map((d) => d ^ 1))), rows.text[2]);
    assert.equal(rows.text[0], String(away.length));
    await complete();
    await this.names_on_paper();
    const few = await page.evaluate(() => window.heddle.view().map.painter.pictureLines);
    // It opens where one zooms in, and closes again.
    await page.click('.card button:has-text("Zoom in")');
    await until('links', () => !window.heddle.view().map.afar && document.querySelector('.card').hidden);
    await complete();
    assert.ok(!(await legend.innerText()).includes('Bands'));
    assert.ok(await page.evaluate(() => window.heddle.view().map.painter.pictureLines) > 4 * few);
    await page.focus('.map-stage');
    await page.keyboard.press('0');
    await until('bands', () => window.heddle.view().map.afar);
    await complete();
    assert.match(await legend.innerText(), /Bands are/);
    assert.equal(await page.evaluate(() => window.heddle.view().map.painter.pictureLines), few);
    const node = heddle('nodes', '--type', 'switch').nodes[40];
    await page.evaluate((guid) => { location.hash = `#/map?sel=${guid}`; }, node.guid);
    await until('its card', (name) => document.querySelector('.card h2')?.textContent === name, node.name);
    await until('it, and its links', () => !window.heddle.view().map.afar);
    await complete();
    await this.names_on_paper();
  },

  /** Part of `bundles`: along the edge of each name's ground nothing of what lies under it keeps anybody from reading. */
  async names_on_paper() {
    const wrong = await page.evaluate(() => {
      const { map } = window.heddle.view();
      const source = document.querySelector('.map-gl');
      const copy = document.createElement('canvas');
      [copy.width, copy.height] = [source.width, source.height];
      const context = copy.getContext('2d');
      context.drawImage(source, 0, 0);
      const ground = getComputedStyle(document.documentElement).getPropertyValue('--ground').match(/[0-9a-f]{2}/g).map((c) => parseInt(c, 16));
      const names = map.ink.names.filter((box) => box[0] > 1 && box[1] > 1 && box[2] < copy.width - 1 && box[3] < copy.height - 1);
      let most = 0;
      for (const [left, top, right, bottom] of names) {
        const upright = bottom - top > right - left;
        // A line of pixels within the margin that the letters leave.
        const { data } = upright ? context.getImageData(Math.ceil(left) + 1, Math.ceil(top) + 1, 1, Math.floor(bottom - top) - 2)
          : context.getImageData(Math.ceil(left) + 1, Math.ceil(top) + 1, Math.floor(right - left) - 2, 1);
        for (let i = 0; i < data.length; ++i) if (i % 4 < 3) most = Math.max(most, Math.abs(data[i] - ground[i % 4]));
      }
      return { names: names.length, most };
    });
    assert.ok(wrong.names > 5, `${wrong.names} names`);
    assert.ok(wrong.most <= 0.1 * 255 + 2, `${wrong.most} of 255 from the ground`);
  },

  /** While a picture takes many frames, the one before is moved: what is seen follows the pointer, and in the end all is drawn anew. */
  async drag() {
    await visit('#/map');
    const complete = () => until('a complete picture', () => {
      const { map } = window.heddle.view();
      return map.pictures > 0 && !map.pending;
    });
    await complete();
    const stage = await page.locator('.map-stage').boundingBox();
    const [dx, dy] = [37, 23];
    // A part without the panels, with the margin that the moves need.
    const clip = { x: stage.x + 400, y: stage.y + 60, width: 600, height: 500 };
    await page.evaluate(() => {
      const view = window.heddle.view();
      view.onFrame = () => {}; // the figures stay what they are
      view.map.painter.pace.ready = () => false;
    });
    const before = await page.screenshot({ clip });
    const pictures = await page.evaluate(() => window.heddle.view().map.pictures);
    const [x, y] = [stage.x + 300, stage.y + 12]; // where nothing is that would be marked
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + dx - 5, y + dy, { steps: 3 });
    await page.mouse.move(x + dx, y + dy);
    await until('the moved map', ([x, y]) => {
      const [, , , , e, f] = document.querySelector('.map-gl').style.transform.match(/[-\d.e]+/g).map(Number);
      return e === x && f === y;
    }, [dx, dy]);
    const during = await page.screenshot({ clip: { ...clip, x: clip.x + dx, y: clip.y + dy } });
    assert.equal(await page.evaluate(() => window.heddle.view().map.pictures), pictures, 'a picture was drawn that should not have been');
    assert.ok(before.equals(during), 'what is seen has not followed the pointer');
    await page.evaluate(() => { delete window.heddle.view().map.painter.pace.ready; });
    await until('a new picture', (n) => window.heddle.view().map.pictures > n, pictures);
    await complete();
    await page.mouse.up();
    const after = await page.screenshot({ clip: { ...clip, x: clip.x + dx, y: clip.y + dy } });
    assert.ok(before.equals(after), 'the new picture is not the moved one');
  },

  /** Not a check: what page_speed.py writes down. */
  async speed() {
    const begun = Date.now();
    await page.goto(`${base}/#/map`);
    await until('a drawing of live figures', () => window.heddle?.store.live?.sweep > 0 && window.heddle.view()?.map?.frames > 0);
    const usable = Date.now() - begun;
    const received = await page.evaluate(() => window.heddle.store.received);
    const since = Date.now();
    await page.waitForTimeout(8000);
    const rate = ((await page.evaluate(() => window.heddle.store.received)) - received) / ((Date.now() - since) / 1000);
    const frames = await page.evaluate(() => new Promise((resolve) => {
      const { map } = window.heddle.view();
      const stage = document.querySelector('.map-stage');
      const point = (kind, x, y) => stage.dispatchEvent(new PointerEvent(kind, { clientX: x, clientY: y, pointerId: 1, button: 0, bubbles: true }));
      stage.setPointerCapture = () => {};
      point('pointerdown', 600, 400);
      const [from, pictures, at] = [map.frames, map.pictures, performance.now()];
      const move = () => {
        const t = performance.now() - at;
        point('pointermove', 600 + 200 * Math.sin(t / 300), 400 + 100 * Math.cos(t / 300));
        if (t < 4000) requestAnimationFrame(move);
        else {
          point('pointerup', 600, 400);
          resolve([(map.frames - from) / (t / 1000), (map.pictures - pictures) / (t / 1000)]);
        }
      };
      requestAnimationFrame(move);
    }));
    console.log(JSON.stringify({ usable_ms: usable, bytes_per_second: Math.round(rate), frames_per_second: Math.round(frames[0] * 10) / 10, pictures_per_second: Math.round(frames[1] * 10) / 10 }));
  },

  /** Back to a sweep of which the figures were kept, and forward to live again. */
  async time() {
    await visit('#/map');
    await until('some sweeps', () => window.heddle.store.times.length >= 4);
    const before = await page.evaluate(() => {
      const { store } = window.heddle;
      const { at, sweep, utilization, errors, locality } = store.live;
      return { at, sweep, utilization: [...utilization], errors: [...errors], locality: [...locality] };
    });
    await until('two more sweeps', (sweep) => window.heddle.store.live.sweep >= sweep + 2, before.sweep);
    await page.evaluate(() => document.activeElement.blur());
    for (let steps = 0; steps < 10; ++steps) {
      const at = await page.evaluate(() => window.heddle.store.frame.at);
      if (at <= before.at + 0.001) break;
      await page.keyboard.press('[');
      await until('one sweep back', (was) => window.heddle.store.frame.at < was, at);
    }
    const past = await page.evaluate(() => ({ at: window.heddle.store.past.at, utilization: [...window.heddle.store.past.utilization],
      errors: [...window.heddle.store.past.errors], locality: [...window.heddle.store.past.locality] }));
    assert.ok(Math.abs(past.at - before.at) < 0.002, `at ${past.at} in place of ${before.at}`);
    past.utilization.forEach((value, i) => assert.ok(Math.abs(value - before.utilization[i]) <= 1, `direction ${i}: ${value}, was ${before.utilization[i]}`));
    assert.deepEqual(past.errors, before.errors);
    // In 1/10,000, made of utilizations that the daemon keeps in steps of 1/50,000: a quiet set is told roughly.
    past.locality.forEach((value, i) => assert.ok(Math.abs(value - before.locality[i]) <= 30, `set ${i}: locality ${value}, was ${before.locality[i]}`));
    assert.ok(await page.locator('.timebar.past').count() === 1);
    // The map follows: what it has drawn is of this sweep, and the next one changes nothing of it.
    await page.evaluate(() => { window.steps = [...window.heddle.view().map.painter.lineSteps]; });
    await until('another sweep', (sweep) => window.heddle.store.live.sweep > sweep + 2, before.sweep);
    assert.ok(await page.evaluate(() => window.heddle.store.past !== null && window.heddle.view().map.painter.lineSteps.every((step, i) => step === window.steps[i])));
    await page.keyboard.press('.');
    await until('live again', () => window.heddle.store.past === null);
  },
};

let failed = false;
for (const name of checks.split(',')) {
  try {
    await all[name]();
    console.log(`${name} ok`);
  } catch (error) {
    failed = true;
    console.log(`${name} FAILED: ${error.stack}`);
    await page.screenshot({ path: `/tmp/page-${name}.png` }).catch(() => {});
    break;
  }
}
await browser.close();
if (complaints.length > 0) console.log(`The page complained: ${complaints.join('\n')}`);
if (outside.length > 0) console.log(`Asked of others: ${outside.join('\n')}`);
process.exit(failed || complaints.length > 0 || outside.length > 0 ? 1 : 0);
