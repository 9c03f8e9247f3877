/**
 * Prints every statement of the relay in the dialects of both engines, one JSON object per line. Only a module
 * loader can collect them all, because each store keeps its statements private.
 */
import { globSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { joinReads } from "../../src/storage/postgres/reading/batched-reads.ts";
import type { Query } from "../../src/storage/storage.ts";

const sources = fileURLToPath(new URL("../../src/", import.meta.url));
const compiler = pathToFileURL(`${sources}storage/queries/compiled-query.ts`).href;

interface Listed {
  readonly file: string;
  readonly query: Query<never, unknown>;
}
const listed: Listed[] = [];
let file = "";
Object.assign(globalThis, { listQuery: (query: Listed["query"]) => listed.push({ file, query }) });

/** Replaces the compiler module and records each statement that it compiles. */
const RECORDER = `
  import * as original from "${compiler}?original";
  export * from "${compiler}?original";
  export const compile = () => (builder) => {
    const query = original.compile()(builder);
    globalThis.listQuery(query);
    return query;
  };`;

registerHooks({
  load: (url, context, next) =>
    url === compiler
      ? { format: "module", source: RECORDER, shortCircuit: true }
      : next(url, context),
});

const paths = globSync("**/*.ts", { cwd: sources, exclude: (path) => path.endsWith(".test.ts") });
// Stores are loaded first, so that each statement is listed with its own file.
const isStore = (path: string) => /(^|[/-])store\.ts$/.test(path);
const [stores, others] = [paths.filter(isStore), paths.filter((path) => !isStore(path))];
const programs = ["main.ts", "storage/check/check-process.ts"];
for (const path of [...stores, ...others].filter((each) => !programs.includes(each))) {
  file = path;
  await import(pathToFileURL(sources + path).href);
}
for (const { file: path, query } of listed) {
  const { text, postgres, isBatched } = query;
  const joined = isBatched === true && { joined: joinReads(query) };
  process.stdout.write(
    `${JSON.stringify({ file: path, sqlite: text, postgres: postgres.text, ...joined })}\n`,
  );
}
