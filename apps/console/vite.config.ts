import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { dropCiphersPlugin } from "./scripts/drop-ciphers.ts";

const inRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const conditions = ["agent-source", "module", "browser", "development|production"];

export default defineConfig({
  // The folder must work below any path and on any static host.
  base: "./",
  // The icon is the only file that the pages refer to without a hash in its name.
  publicDir: "public",
  plugins: [dropCiphersPlugin],
  resolve: { conditions },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: inRoot("../relay/assets/console"),
    emptyOutDir: true,
    assetsDir: "console/assets",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    rolldownOptions: { input: { verify: inRoot("verify.html"), home: inRoot("src/home/main.ts") } },
  },
});
