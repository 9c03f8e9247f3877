import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import pages from "./vite.config.ts";

/** Builds the console apart from the other pages, for the reason given for that of the log. */
export default defineConfig({
  ...pages,
  build: {
    ...pages.build,
    emptyOutDir: false,
    copyPublicDir: false,
    rolldownOptions: {
      input: { console: fileURLToPath(new URL("console.html", import.meta.url)) },
    },
  },
});
