import { defineConfig } from 'vite';

// Everything stays a file of its own: the page's policy allows neither inline scripts nor data URLs for them.
export default defineConfig({
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
