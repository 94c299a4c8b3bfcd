// How many lines may be drawn in one frame so that the page stays quick: as many as the graphics processor gets done until the next.
// Where that is software, a large fabric takes many frames, and in between the last picture is moved about.

export class Pace {
  /** Lines a frame. */
  batch = 8000;
  private fence: WebGLSync | null = null;
  private waited = 0;

  constructor(private readonly gl: WebGL2RenderingContext, private readonly least = 500) {}

  /** Whether what was drawn before is done; asked once a frame. */
  ready(): boolean {
    if (!this.fence) return true;
    if (this.gl.getSyncParameter(this.fence, this.gl.SYNC_STATUS) !== this.gl.SIGNALED) {
      ++this.waited;
      return false;
    }
    this.gl.deleteSync(this.fence);
    this.fence = null;
    this.batch = this.waited > 1 ? Math.max(this.least, Math.round(this.batch / 2)) : Math.min(1 << 24, Math.round(this.batch * 1.25));
    return true;
  }

  /** A batch was drawn. */
  drew(): void {
    this.waited = 0;
    this.fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.gl.flush();
  }
}

/** Of a picture that keeps the graphics processor for longer, the next one waits while the map is dragged: else what is dragged would
 * stand still while it is drawn. */
const short = 40; // ms
const restsFor = 9; // times as long as a picture takes

export class Rest {
  private fence: WebGLSync | null = null;
  private begun = 0;
  private until = 0;

  constructor(private readonly gl: WebGL2RenderingContext) {}

  /** Whether the next picture may begin; asked once a frame. */
  over(dragged: boolean): boolean {
    const now = performance.now();
    if (this.fence) {
      if (this.gl.getSyncParameter(this.fence, this.gl.SYNC_STATUS) !== this.gl.SIGNALED) return false;
      this.gl.deleteSync(this.fence);
      this.fence = null;
      const took = now - this.begun;
      this.until = took < short ? 0 : now + restsFor * took;
    }
    return !dragged || now >= this.until;
  }

  begin(): void { this.begun = performance.now(); }

  /** What was begun is shown. */
  shown(): void {
    if (this.fence) this.gl.deleteSync(this.fence);
    this.fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.gl.flush();
  }
}
