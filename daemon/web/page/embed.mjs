// Makes a C++ source file of a directory, whose files become part of the program: embed.mjs DIRECTORY OUTPUT
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const [root, output] = process.argv.slice(2).map((path) => resolve(path));

function* files(directory) {
  for (const name of readdirSync(directory).sort()) {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) yield* files(path);
    else yield path;
  }
}

let assembly = '';
let declarations = '';
let rows = '';
let number = 0;
for (const path of files(root)) {
  const begin = `heddle_page_${number}`;
  const end = `heddle_page_${number}_end`;
  assembly += `asm(".pushsection .rodata\\n.global ${begin}\\n.global ${end}\\n${begin}:\\n.incbin ${JSON.stringify(JSON.stringify(path)).slice(1, -1)}\\n${end}:\\n.byte 0\\n.popsection\\n");\n`;
  declarations += `extern "C" const char ${begin}[];\nextern "C" const char ${end}[];\n`;
  rows += `      Asset{${JSON.stringify('/' + relative(root, path))}, {${begin}, static_cast<std::size_t>(${end} - ${begin})}},\n`;
  ++number;
}
writeFileSync(
  output,
  `// Made by embed.mjs.
#include <array>

#include "web/assets.h"

${assembly}
${declarations}
namespace heddle::web {

std::span<const Asset> page_assets() {
  static const std::array<Asset, ${number}> assets{
${rows}  };
  return assets;
}

}  // namespace heddle::web
`,
);
