import { fill, h } from '../dom';
import { bits, count, duration, ratio } from '../format';
import { ask } from '../store';
import { Table } from '../table';
import type { MakeView } from '../view';

interface Job {
  job: string; user: string; name: string; hosts: number; injected_bytes_per_second: number;
  leaves_leaf: number | null; leaves_leaf_exact: boolean;
  worst_link: { from: string; to: string; utilization: number } | null; neighbours: { job: string }[];
}
interface Jobs { jobs: Job[]; left_out: number; source: string; age_seconds: number | null; trouble: string }

/** More would be no reading; who sends most comes first. */
const most = 500;

const shareOf = (job: Job): string => `${job.leaves_leaf === null || job.leaves_leaf_exact ? '' : '~'}${ratio(job.leaves_leaf)}`;

function jobsTable(rows: () => Job[]): Table {
  return new Table({
    label: 'Jobs', rows: () => rows().length, order: '-sends',
    text: (row) => `${rows()[row]!.job} ${rows()[row]!.user} ${rows()[row]!.name}`,
    columns: [
      { key: 'job', title: 'Job', sort: (row) => rows()[row]!.job, cell: (row) => rows()[row]!.job },
      { key: 'user', title: 'User', sort: (row) => rows()[row]!.user, cell: (row) => rows()[row]!.user },
      { key: 'hosts', title: 'Hosts', right: true, sort: (row) => rows()[row]!.hosts, cell: (row) => count(rows()[row]!.hosts) },
      { key: 'sends', title: 'Sends', right: true, sort: (row) => rows()[row]!.injected_bytes_per_second, cell: (row) => bits(rows()[row]!.injected_bytes_per_second * 8) },
      { key: 'leaves', title: 'Leaves its leaf', right: true, sort: (row) => rows()[row]!.leaves_leaf ?? -1, cell: (row) => shareOf(rows()[row]!) },
      { key: 'link', title: 'Busiest link', sort: (row) => rows()[row]!.worst_link?.utilization ?? -1, cell: (row) => {
        const link = rows()[row]!.worst_link;
        return link ? `${link.from} → ${link.to} ${ratio(link.utilization)}` : '–';
      } },
      { key: 'shared', title: 'Shared with', sort: (row) => rows()[row]!.neighbours.length, cell: (row) => rows()[row]!.neighbours.map((each) => each.job).join(', ') },
    ],
  });
}

/** Which job loads which link, as `heddle jobs` tells it. */
export const jobsView: MakeView = (store) => {
  const head = h('div');
  const body = h('div');
  let rows: Job[] = [];
  const table = jobsTable(() => rows);
  const update = async (): Promise<void> => {
    const jobs = await ask<Jobs>(`/v1/jobs?top=${most}`).catch((error: Error) => {
      fill(head, h('p', { class: 'quiet' }, error.message));
      return null;
    });
    if (!jobs) return;
    const age = jobs.age_seconds === null ? '' : `, ${duration(jobs.age_seconds)} ago`;
    fill(head,
      h('p', { class: 'under' }, `${count(jobs.jobs.length + jobs.left_out)} jobs, as ${jobs.source} said${age}.`),
      jobs.trouble && h('p', { class: 'problem' }, jobs.trouble));
    rows = jobs.jobs;
    if (!body.hasChildNodes()) fill(body, table.element);
    table.refresh();
  };
  void update();
  let last = performance.now();
  return {
    element: h('section', { class: 'view page' }, h('h1', null, 'Jobs'), head, body),
    title: 'Jobs',
    onFrame: () => {
      if (performance.now() - last < 2000 || store.past) return;
      last = performance.now();
      void update();
    },
  };
};
