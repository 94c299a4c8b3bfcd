// Words for what the regulation is at.

export function stateLine(stage: string): string {
  return stage === '' || stage === 'idle' ? '' : `At this moment: ${stage}.`;
}
