import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import pages from "./vite.config.ts";

/**
 * Builds the page of the log after and separately from the other pages, because a script that two pages share
 * would be a second download for the page /verify.
 */
export default defineConfig({
  ...pages,
  build: {
    ...pages.build,
    emptyOutDir: false,
    copyPublicDir: false,
    rolldownOptions: { input: { log: fileURLToPath(new URL("log.html", import.meta.url)) } },
  },
});
