// Draws links and nodes with WebGL 2. A library for graphs (sigma) was the other choice: its buffers are made anew from objects
// in JavaScript whenever a figure changes, which is every link every second here. Here geometry is uploaded once, and a sweep
// is one byte per direction; a texture of 256 steps makes colour, opacity and width of it.
//
// A picture is drawn beside the one that is seen, in as many frames as it takes, and then shown at once, with what is written over
// it. Each direction of a link is an indexed quadrangle; instances would cost a software renderer ten times as much each. Where a
// pixel is all the room that a line has, it is drawn as a line. The canvas is opaque: every layer more that a software renderer
// must blend costs it half a frame.
import type { Step } from './overlays';
import { Pace, Rest } from './pace';
import { inkFragment, inkVertex, lineFragment, lineVertex, nodeFragment, nodeVertex, program } from './shaders';

export interface View { scale: number; x: number; y: number }
/** What there is to draw: lines of bands, then both directions of links, those between switches first; nodes, then parts. */
export interface Geometry {
  /** Four numbers for each line: from where, to where. */
  segments: Float32Array;
  /** Of each line: places from the middle of its trunk; its width, against that of its step. */
  lateral: Float32Array; broad: Float32Array;
  at: Float32Array; kind: Float32Array;
  bandLines: number;
  /** Behind those of bands. */
  switchLines: number;
  /** Before the parts. */
  nodes: number;
}
export interface Options {
  /** Bands and parts in place of links and nodes. */
  afar: boolean;
  hosts: boolean;
  /** Lines of one pixel in place of their widths. */
  fine: boolean;
  switchSize: number; hostSize: number;
  /** Between the lines of a trunk. */
  apart: number;
  thick: number; least: number;
  ground: number[]; plain: number[];
}
type BufferName = 'segment' | 'offset' | 'value' | 'quads' | 'lines' | 'at' | 'kind' | 'nodeValue';

function same(a: Uint8Array, b: Uint8Array): boolean { return a.length === b.length && a.every((value, i) => value === b[i]); }

export class Painter {
  readonly pace: Pace;
  readonly rest: Rest;
  private readonly gl: WebGL2RenderingContext;
  private readonly lines: WebGLProgram;
  private readonly nodes: WebGLProgram;
  private readonly ink: WebGLProgram;
  private readonly looksTexture: WebGLTexture;
  private readonly inkTexture: WebGLTexture;
  private readonly lineArray: WebGLVertexArrayObject;
  private readonly nodeArray: WebGLVertexArrayObject;
  private readonly buffers = {} as Record<BufferName, WebGLBuffer>;
  private readonly places = new Map<string, WebGLUniformLocation | null>();
  private readonly aside: WebGLFramebuffer;
  private readonly surface: [WebGLRenderbuffer, WebGLRenderbuffer];
  private size: [number, number] = [0, 0];
  private bandLines = 0;
  private switchLines = 0;
  private lineCount = 0;
  private nodeCount = 0;
  private partCount = 0;
  private lineSteps: Uint8Array = new Uint8Array();
  private nodeSteps: Uint8Array = new Uint8Array();
  private unsent = false;
  /** Lines of the last picture. */
  pictureLines = 0;
  private picture: { view: View; options: Options; next: number } | null = null;

  constructor(readonly canvas: HTMLCanvasElement) {
    const gl = canvas.getContext('webgl2', { antialias: false, alpha: false, depth: false, premultipliedAlpha: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error('This browser has no WebGL 2, which the map needs. The tables work without it.');
    this.gl = gl;
    this.pace = new Pace(gl);
    this.rest = new Rest(gl);
    this.lines = program(gl, lineVertex, lineFragment);
    this.nodes = program(gl, nodeVertex, nodeFragment);
    for (const name of ['segment', 'offset', 'value', 'quads', 'lines', 'at', 'kind', 'nodeValue'] as const) this.buffers[name] = gl.createBuffer()!;
    this.ink = program(gl, inkVertex, inkFragment);
    this.inkTexture = this.texture();
    this.looksTexture = this.texture();
    this.lineArray = gl.createVertexArray()!;
    this.nodeArray = gl.createVertexArray()!;
    gl.bindVertexArray(this.lineArray);
    this.attribute(this.lines, 'segment', 'segment', 4, gl.FLOAT);
    this.attribute(this.lines, 'offset', 'offset', 2, gl.FLOAT);
    this.attribute(this.lines, 'value', 'value', 1, gl.UNSIGNED_BYTE);
    gl.bindVertexArray(this.nodeArray);
    this.attribute(this.nodes, 'at', 'at', 2, gl.FLOAT);
    this.attribute(this.nodes, 'value', 'nodeValue', 1, gl.UNSIGNED_BYTE);
    this.attribute(this.nodes, 'kind', 'kind', 1, gl.FLOAT);
    gl.bindVertexArray(null);
    this.aside = gl.createFramebuffer()!;
    this.surface = [gl.createRenderbuffer()!, gl.createRenderbuffer()!];
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthFunc(gl.LEQUAL);
  }

  private texture(): WebGLTexture {
    const gl = this.gl;
    const made = gl.createTexture()!;
    gl.bindTexture(gl.TEXTURE_2D, made);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
    return made;
  }

  private attribute(of: WebGLProgram, name: string, buffer: BufferName, size: number, type: number): void {
    const gl = this.gl;
    const place = gl.getAttribLocation(of, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[buffer]);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, type === gl.UNSIGNED_BYTE, 0, 0);
  }

  private upload(name: BufferName, data: ArrayBufferView, target: number = this.gl.ARRAY_BUFFER): void {
    this.gl.bindBuffer(target, this.buffers[name]);
    this.gl.bufferData(target, data, this.gl.DYNAMIC_DRAW);
  }

  private uniform(of: WebGLProgram, name: string): WebGLUniformLocation | null {
    const key = (of === this.lines ? 'l' : 'n') + name;
    if (!this.places.has(key)) this.places.set(key, this.gl.getUniformLocation(of, name));
    return this.places.get(key)!;
  }

  geometry({ segments, lateral, broad, at, kind, bandLines, switchLines, nodes }: Geometry): void {
    const gl = this.gl;
    const count = lateral.length;
    this.picture = null;
    this.lineCount = count;
    this.bandLines = bandLines;
    this.switchLines = switchLines;
    this.nodeCount = nodes;
    this.partCount = kind.length - nodes;
    const corners = new Float32Array(16 * count);
    const offset = new Float32Array(8 * count);
    const quads = new Uint32Array(6 * count);
    const lines = new Uint32Array(2 * count);
    for (let i = 0; i < count; ++i) {
      for (let corner = 0; corner < 4; ++corner) {
        const [own, other, turn] = corner < 2 ? [4 * i, 4 * i + 2, 1] : [4 * i + 2, 4 * i, -1];
        corners.set([segments[own]!, segments[own + 1]!, segments[other]!, segments[other + 1]!], 16 * i + 4 * corner);
        offset[8 * i + 2 * corner] = turn * (corner % 2 === 0 ? -1 : 1) * broad[i]!;
        offset[8 * i + 2 * corner + 1] = turn * lateral[i]!;
      }
      quads.set([4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 1, 4 * i + 2, 4 * i + 3], 6 * i);
      lines.set([4 * i, 4 * i + 2], 2 * i);
    }
    gl.bindVertexArray(null);
    this.upload('segment', corners);
    this.upload('offset', offset);
    this.upload('quads', quads, gl.ELEMENT_ARRAY_BUFFER);
    this.upload('lines', lines, gl.ELEMENT_ARRAY_BUFFER);
    this.upload('at', at);
    this.upload('kind', kind);
    this.lineSteps = new Uint8Array(count).fill(255);
    this.nodeSteps = new Uint8Array(kind.length).fill(255);
    this.unsent = true;
  }

  /** For the next picture. False where they are what was told before. */
  values(lines: Uint8Array, nodes: Uint8Array): boolean {
    if (same(lines, this.lineSteps) && same(nodes, this.nodeSteps)) return false;
    this.lineSteps = lines;
    this.nodeSteps = nodes;
    this.unsent = true;
    return true;
  }

  private send(): void {
    if (!this.unsent) return;
    this.unsent = false;
    const four = new Uint8Array(4 * this.lineSteps.length);
    this.lineSteps.forEach((value, i) => four.fill(value, 4 * i, 4 * i + 4));
    this.upload('value', four);
    this.upload('nodeValue', this.nodeSteps);
  }

  looks(steps: Step[]): void {
    const texture = new Uint8Array(256 * 2 * 4);
    steps.forEach((step, i) => {
      texture.set([...step.colour, Math.round(step.alpha * 255)], 4 * i);
      texture[4 * (256 + i)] = Math.round((step.width / 16) * 255);
    });
    const gl = this.gl;
    gl.bindTexture(gl.TEXTURE_2D, this.looksTexture);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 2, 0, gl.RGBA, gl.UNSIGNED_BYTE, texture);
  }

  /** The canvas has another size: what it showed is gone. */
  resize(): void {
    const gl = this.gl;
    this.picture = null;
    this.size = [this.canvas.width, this.canvas.height];
    const [colour, depth] = this.surface;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.aside);
    for (const [buffer, format, attachment] of [[colour, gl.RGBA8, gl.COLOR_ATTACHMENT0], [depth, gl.DEPTH_COMPONENT24, gl.DEPTH_ATTACHMENT]] as const) {
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, ...this.size);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, attachment, gl.RENDERBUFFER, buffer);
    }
  }

  get busy(): boolean { return this.picture !== null; }

  /** Starts a picture. The view is in device pixels: x pixels = x * scale + view.x. */
  begin(view: View, options: Options): void {
    const gl = this.gl;
    this.rest.begin();
    this.send();
    this.picture = { view, options, next: options.afar ? 0 : this.bandLines };
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.aside);
    gl.viewport(0, 0, ...this.size);
    const [red, green, blue] = options.ground;
    gl.clearColor(red!, green!, blue!, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  /** Draws more of it, if the graphics processor has time. True: it is complete, and can be shown. */
  advance(): boolean {
    if (!this.picture || !this.pace.ready()) return false;
    const { options, next } = this.picture;
    const end = options.afar ? this.bandLines : options.hosts ? this.lineCount : this.bandLines + this.switchLines;
    const count = Math.min(this.pace.batch, end - next);
    this.drawLines(next, count);
    this.picture.next += count;
    const complete = this.picture.next >= end;
    if (complete) {
      this.pictureLines = end - (options.afar ? 0 : this.bandLines);
      this.finish();
    }
    this.pace.drew();
    return complete;
  }

  private use(program: WebGLProgram): void {
    this.gl.useProgram(program);
    this.gl.bindTexture(this.gl.TEXTURE_2D, this.looksTexture);
    const { view } = this.picture!;
    this.gl.uniform2f(this.uniform(program, 'size'), ...this.size);
    this.gl.uniform3f(this.uniform(program, 'view'), view.scale, view.x, view.y);
  }

  private drawLines(first: number, count: number): void {
    const gl = this.gl;
    const { options } = this.picture!;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.aside);
    this.use(this.lines);
    gl.uniform1f(this.uniform(this.lines, 'apart'), options.apart);
    gl.uniform1f(this.uniform(this.lines, 'thick'), options.fine ? 0 : options.thick);
    gl.uniform1f(this.uniform(this.lines, 'least'), options.least);
    gl.enable(gl.DEPTH_TEST);
    gl.bindVertexArray(this.lineArray);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, options.fine ? this.buffers.lines : this.buffers.quads);
    const each = options.fine ? 2 : 6;
    gl.drawElements(options.fine ? gl.LINES : gl.TRIANGLES, each * count, gl.UNSIGNED_INT, 4 * each * first);
    gl.bindVertexArray(null);
  }

  private finish(): void {
    const gl = this.gl;
    const { options } = this.picture!;
    gl.disable(gl.DEPTH_TEST);
    this.use(this.nodes);
    gl.uniform2f(this.uniform(this.nodes, 'extent'), options.switchSize, options.hostSize);
    gl.uniform1f(this.uniform(this.nodes, 'host'), options.hosts ? 1 : 0);
    gl.uniform3fv(this.uniform(this.nodes, 'ground'), options.ground);
    gl.uniform3fv(this.uniform(this.nodes, 'plain'), options.plain);
    gl.bindVertexArray(this.nodeArray);
    gl.drawArrays(gl.POINTS, options.afar ? this.nodeCount : 0, options.afar ? this.partCount : this.nodeCount);
    gl.bindVertexArray(null);
    this.picture = null;
  }

  /** The complete picture, with what is written on `ink` over it, which has its size. Precondition: not busy. */
  show(ink: HTMLCanvasElement | null): void {
    this.blit(ink);
    this.rest.shown();
  }

  private blit(ink: HTMLCanvasElement | null): void {
    const gl = this.gl;
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.aside);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.blitFramebuffer(0, 0, ...this.size, 0, 0, ...this.size, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    if (!ink) return;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, ...this.size);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(this.ink);
    gl.bindTexture(gl.TEXTURE_2D, this.inkTexture);
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, ink);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}
