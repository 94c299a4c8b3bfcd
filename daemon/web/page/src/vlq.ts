// The numbers of a frame (daemon/web/vlq.h): pairs of the distance from the entry before and the difference.

const digits = new Int8Array(128).fill(-1);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((c, i) => {
  digits[c.charCodeAt(0)] = i;
});

type Numbers = Int16Array | Float64Array | Uint8Array | Int8Array;

/** Adds the differences to the column. Throws on text that is no frame's. */
export function advance(column: Numbers, text: string): void {
  let at = 0;
  let index = 0;
  const next = (): number => {
    let value = 0;
    let factor = 1;
    for (;;) {
      const digit = at < text.length ? digits[text.charCodeAt(at++)]! : -1;
      if (digit === undefined || digit < 0) throw new Error('a frame that is cut off');
      value += (digit & 31) * factor;
      if (digit < 32) return value;
      factor *= 32;
    }
  };
  while (at < text.length) {
    index += next();
    const change = next();
    if (index >= column.length) throw new Error('a frame of another fabric');
    column[index]! += change % 2 === 0 ? change / 2 : -(change + 1) / 2;
  }
}
