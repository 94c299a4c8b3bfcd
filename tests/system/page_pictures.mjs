// Takes pictures of the page for the documents. Run by page_pictures.py: page_pictures.mjs URL PICTURE...
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(process.env.HEDDLE_PAGE_PACKAGES + '/');
const { chromium } = require('playwright-core');
const [base, ...wanted] = process.argv.slice(2);
const links = (...args) => JSON.parse(execFileSync(process.env.HEDDLE_PROGRAM, ['--json', 'links', ...args], { maxBuffer: 1 << 28 }).toString()).links;

const browser = await chromium.launch({
  executablePath: process.env.HEDDLE_CHROMIUM,
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
});
const busiest = links('--kind', 'switch', '--sort', 'utilization', '--top', '1')[0];
const places = {
  map: ['#/map'],
  light: ['#/map', 'light'],
  power: ['#/map?overlay=power'],
  torus: ['#/map?overlay=congestion'],
  afar: ['#/map'],
  links: ['#/links?sort=-most'],
  link: [`#/link/${busiest.a.guid}/${busiest.a.port}`],
  node: [`#/node/${busiest.a.guid}`],
  plan: ['#/plan'],
};
for (const name of wanted) {
  const [hash, colorScheme = 'dark'] = places[name];
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
  await page.goto(`${base}/${hash}`);
  await page.waitForFunction(() => window.heddle?.store.live?.sweep > 0);
  await page.waitForTimeout(2500); // for the second sweep, and for charts
  await page.waitForFunction(() => { const { map } = window.heddle.view(); return !map || (map.pictures > 0 && !map.pending); });
  await page.screenshot({ path: `${process.env.HEDDLE_PICTURES}/page-${name}.png` });
  await page.close();
}
await browser.close();
