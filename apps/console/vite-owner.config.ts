import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import pages from "./vite.config.ts";

/** Builds the owner's page separately from the other pages, for the same reason as the page of the log. */
export default defineConfig({
  ...pages,
  build: {
    ...pages.build,
    emptyOutDir: false,
    copyPublicDir: false,
    rolldownOptions: {
      input: { me: fileURLToPath(new URL("console/me.html", import.meta.url)) },
    },
  },
});
