// Draws links and nodes with WebGL 2. A library for graphs (sigma) was the other choice: its buffers are made anew from objects
// in JavaScript whenever a figure changes, which is every link every second here. Here geometry is uploaded once, and a sweep
// is one byte per direction; a texture of 256 steps makes colour, opacity and width of it.
import type { Step } from './overlays';

export interface View { scale: number; x: number; y: number }

const edgeVertex = `#version 300 es
in vec2 corner; in vec4 segment; in float lateral; in float value;
uniform vec2 size; uniform vec3 view; uniform float apart; uniform float thick; uniform float least; uniform sampler2D looks;
out vec4 colour;
void main() {
  int step = int(value * 255.0 + 0.5);
  vec4 look = texelFetch(looks, ivec2(step, 0), 0);
  float width = max(least, texelFetch(looks, ivec2(step, 1), 0).r * 16.0 * thick);
  vec2 from = segment.xy * view.x + view.yz, to = segment.zw * view.x + view.yz;
  vec2 along = to - from;
  vec2 across = vec2(-along.y, along.x) / max(length(along), 0.001);
  vec2 at = mix(from, to, corner.x) + across * (corner.y * width * 0.5 + lateral * apart);
  colour = vec4(look.rgb * look.a, look.a);
  gl_Position = vec4(at / size * vec2(2.0, -2.0) + vec2(-1.0, 1.0), step == 255 ? 0.9 : 0.8 - value, 1.0);
}`;
const edgeFragment = `#version 300 es
precision mediump float;
in vec4 colour; out vec4 pixel;
void main() { pixel = colour; }`;

const nodeVertex = `#version 300 es
in vec2 at; in float value; in float kind;
uniform vec2 size; uniform vec3 view; uniform vec2 extent; uniform float host; uniform sampler2D looks; uniform vec3 plain;
out vec4 colour; flat out float shape; flat out float diameter;
void main() {
  int step = int(value * 255.0 + 0.5);
  vec4 look = texelFetch(looks, ivec2(step, 0), 0);
  diameter = kind < 0.5 ? extent.x : extent.y;
  colour = step == 255 ? vec4(plain, 1.0) : vec4(look.rgb, 1.0);
  shape = kind;
  vec2 place = at * view.x + view.yz;
  gl_PointSize = diameter;
  gl_Position = kind > 0.5 && host < 0.5 ? vec4(2.0, 2.0, 0.0, 1.0) : vec4(place / size * vec2(2.0, -2.0) + vec2(-1.0, 1.0), 0.0, 1.0);
}`;
const nodeFragment = `#version 300 es
precision mediump float;
in vec4 colour; flat in float shape; flat in float diameter; out vec4 pixel;
uniform vec3 ground;
void main() {
  vec2 p = abs(gl_PointCoord - 0.5) * diameter;
  float r = diameter * 0.5;
  float corner = shape < 0.5 ? r * 0.4 : r;
  vec2 q = max(p - (r - corner), 0.0);
  float inside = r - (max(p.x, p.y) < r - corner ? max(p.x, p.y) : length(q) + r - corner);
  if (inside < 0.0) discard;
  float rim = diameter > 5.0 ? smoothstep(0.6, 1.6, inside) : 1.0;
  pixel = vec4(mix(ground, colour.rgb, rim), 1.0);
}`;

export class Painter {
  private readonly gl: WebGL2RenderingContext;
  private readonly edges: WebGLProgram;
  private readonly nodes: WebGLProgram;
  private readonly edgeArray: WebGLVertexArrayObject;
  private readonly nodeArray: WebGLVertexArrayObject;
  private readonly buffers: Record<'corner' | 'segment' | 'lateral' | 'value' | 'at' | 'kind' | 'nodeValue', WebGLBuffer>;
  private readonly places = new Map<string, WebGLUniformLocation | null>();
  private switchLinks = 0;
  private linkCount = 0;
  private nodeCount = 0;

  constructor(readonly canvas: HTMLCanvasElement) {
    const gl = canvas.getContext('webgl2', { antialias: false, alpha: true, depth: true, premultipliedAlpha: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error('This browser has no WebGL 2, which the map needs. The tables work without it.');
    this.gl = gl;
    this.edges = this.program(edgeVertex, edgeFragment);
    this.nodes = this.program(nodeVertex, nodeFragment);
    const buffer = (): WebGLBuffer => gl.createBuffer()!;
    this.buffers = { corner: buffer(), segment: buffer(), lateral: buffer(), value: buffer(), at: buffer(), kind: buffer(), nodeValue: buffer() };
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    this.edgeArray = gl.createVertexArray()!;
    this.nodeArray = gl.createVertexArray()!;
    gl.bindVertexArray(this.edgeArray);
    this.upload('corner', new Float32Array([0, -1, 0, 1, 1, -1, 1, 1]));
    this.attribute(this.edges, 'corner', 'corner', 2, gl.FLOAT, 0);
    this.attribute(this.edges, 'segment', 'segment', 4, gl.FLOAT, 1);
    this.attribute(this.edges, 'lateral', 'lateral', 1, gl.FLOAT, 1);
    this.attribute(this.edges, 'value', 'value', 1, gl.UNSIGNED_BYTE, 1);
    gl.bindVertexArray(this.nodeArray);
    this.attribute(this.nodes, 'at', 'at', 2, gl.FLOAT, 0);
    this.attribute(this.nodes, 'value', 'nodeValue', 1, gl.UNSIGNED_BYTE, 0);
    this.attribute(this.nodes, 'kind', 'kind', 1, gl.FLOAT, 0);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  private program(vertex: string, fragment: string): WebGLProgram {
    const gl = this.gl;
    const program = gl.createProgram()!;
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
      const shader = gl.createShader(kind)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? 'shader');
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? 'program');
    return program;
  }

  private attribute(program: WebGLProgram, name: string, buffer: keyof Painter['buffers'], size: number, type: number, divisor: number): void {
    const gl = this.gl;
    const place = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[buffer]);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, type === gl.UNSIGNED_BYTE, 0, 0);
    gl.vertexAttribDivisor(place, divisor);
  }

  private upload(name: keyof Painter['buffers'], data: ArrayBufferView): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers[name]);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.DYNAMIC_DRAW);
  }

  private uniform(program: WebGLProgram, name: string): WebGLUniformLocation | null {
    const key = (program === this.edges ? 'e' : 'n') + name;
    if (!this.places.has(key)) this.places.set(key, this.gl.getUniformLocation(program, name));
    return this.places.get(key)!;
  }

  /** Two segments for each link, those between switches first. */
  geometry(segments: Float32Array, lateral: Float32Array, switchLinks: number, at: Float32Array, kind: Float32Array): void {
    this.linkCount = segments.length / 8;
    this.switchLinks = switchLinks;
    this.nodeCount = kind.length;
    this.upload('segment', segments);
    this.upload('lateral', lateral);
    this.upload('at', at);
    this.upload('kind', kind);
    this.values(new Uint8Array(2 * this.linkCount).fill(255), new Uint8Array(this.nodeCount).fill(255));
  }

  values(links: Uint8Array, nodes: Uint8Array): void {
    this.upload('value', links);
    this.upload('nodeValue', nodes);
  }

  looks(steps: Step[]): void {
    const texture = new Uint8Array(256 * 2 * 4);
    steps.forEach((step, i) => {
      texture.set([...step.colour, Math.round(step.alpha * 255)], 4 * i);
      texture[4 * (256 + i)] = Math.round((step.width / 16) * 255);
    });
    this.gl.texImage2D(this.gl.TEXTURE_2D, 0, this.gl.RGBA, 256, 2, 0, this.gl.RGBA, this.gl.UNSIGNED_BYTE, texture);
  }

  /** The view in device pixels: x pixels = x * scale + view.x. */
  paint(view: View, options: { hosts: boolean; switchSize: number; hostSize: number; apart: number; thick: number; least: number; ground: number[]; plain: number[] }): void {
    const gl = this.gl;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    for (const program of [this.edges, this.nodes]) {
      gl.useProgram(program);
      gl.uniform2f(this.uniform(program, 'size'), this.canvas.width, this.canvas.height);
      gl.uniform3f(this.uniform(program, 'view'), view.scale, view.x, view.y);
    }
    gl.useProgram(this.edges);
    gl.uniform1f(this.uniform(this.edges, 'apart'), options.apart);
    gl.uniform1f(this.uniform(this.edges, 'thick'), options.thick);
    gl.uniform1f(this.uniform(this.edges, 'least'), options.least);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.bindVertexArray(this.edgeArray);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, 2 * (options.hosts ? this.linkCount : this.switchLinks));
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(this.nodes);
    gl.uniform2f(this.uniform(this.nodes, 'extent'), options.switchSize, options.hostSize);
    gl.uniform1f(this.uniform(this.nodes, 'host'), options.hosts ? 1 : 0);
    gl.uniform3fv(this.uniform(this.nodes, 'ground'), options.ground);
    gl.uniform3fv(this.uniform(this.nodes, 'plain'), options.plain);
    gl.bindVertexArray(this.nodeArray);
    gl.drawArrays(gl.POINTS, 0, this.nodeCount);
    gl.bindVertexArray(null);
  }
}
