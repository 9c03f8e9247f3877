import { createRequire } from "node:module";

const script = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-filesystem/dist/index.js",
);

/** The address of the official file server, limited to one folder. */
export const filesystemServer = (folder: string) => ({
  command: process.execPath,
  args: [script, folder],
  env: {},
});

/** The tool that neither reads nor writes files. */
export const HARMLESS_TOOL = "list_allowed_directories";
