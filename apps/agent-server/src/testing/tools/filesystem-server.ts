import { createRequire } from "node:module";

const script = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-filesystem/dist/index.js",
);

/** The official server that reads and writes files, limited to one folder. */
export const filesystemServer = (folder: string) => ({
  command: process.execPath,
  args: [script, folder],
  env: {},
});

/** The one of its tools that neither reads nor writes. */
export const HARMLESS_TOOL = "list_allowed_directories";
