// What the graphics processor runs for each corner of a line, each node and each pixel of them.

/** `segment`: where this end is, and the other; `offset`: to which side the corner lies (in widths), and how many places from the middle of its
 * trunk the line does, both as seen from this end. A step's colour, opacity and width stand in `looks`. */
export const lineVertex = `#version 300 es
in vec4 segment; in vec2 offset; in float value;
uniform vec2 size; uniform vec3 view; uniform float apart; uniform float thick; uniform float least; uniform sampler2D looks;
flat out vec4 colour;
void main() {
  int step = int(value * 255.0 + 0.5);
  vec4 look = texelFetch(looks, ivec2(step, 0), 0);
  float width = thick == 0.0 ? 0.0 : max(least, texelFetch(looks, ivec2(step, 1), 0).r * 16.0 * thick);
  vec2 own = segment.xy * view.x + view.yz, along = segment.zw * view.x + view.yz - own;
  vec2 across = vec2(-along.y, along.x) / max(length(along), 0.001);
  vec2 at = own + across * (offset.x * width * 0.5 + offset.y * apart);
  colour = vec4(look.rgb * look.a, look.a);
  gl_Position = vec4(at / size * vec2(2.0, -2.0) + vec2(-1.0, 1.0), step == 255 ? 0.9 : 0.8 - value, 1.0);
}`;
export const lineFragment = `#version 300 es
precision mediump float;
flat in vec4 colour; out vec4 pixel;
void main() { pixel = colour; }`;

export const nodeVertex = `#version 300 es
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
export const nodeFragment = `#version 300 es
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

/** A picture over everything, in one triangle; its first row is the uppermost. */
export const inkVertex = `#version 300 es
out vec2 at;
void main() {
  vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;
  at = vec2(corner.x, 1.0 - corner.y);
  gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}`;
export const inkFragment = `#version 300 es
precision mediump float;
in vec2 at; out vec4 pixel;
uniform sampler2D ink;
void main() { pixel = texture(ink, at); }`;

export function program(gl: WebGL2RenderingContext, vertex: string, fragment: string): WebGLProgram {
  const made = gl.createProgram()!;
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? 'shader');
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made) ?? 'program');
  return made;
}
