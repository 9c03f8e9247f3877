import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import pages from "./vite.config.ts";

/**
 * Builds the page of the log after the others and apart from them, because a script that two pages shared
 * would be a second download for the page of /verify.
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
