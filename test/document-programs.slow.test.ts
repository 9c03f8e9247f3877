import { spawnSync } from "node:child_process";
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const documents = globSync(["*.md", "docs/*.md", "packages/*/README.md", "apps/*/README.md"], {
  cwd: root,
});

/** The values that the programs of the documents take from the program of their reader. */
const READER = `
type Of<F extends (...args: never[]) => unknown, N extends number> = Parameters<F>[N];
type Settlement = typeof import("@agent/federation-protocol/settlement");
type Helpers = typeof import("@agent/testkit");
declare global {
  const agentId: string, approverId: string, arbiterId: string, deviceId: string, ownId: string;
  const taskId: string, settlementId: string, prompt: string, baseUrl: string, did: string;
  const relayDid: string, now: number, secretKey: Uint8Array;
  const client: import("@agent/client").RelayClient;
  const task: Of<Settlement["createOutgoingSettlement"], 0> & Of<Helpers["createReceipt"], 1>;
  function send(settlement: object): Promise<Of<Settlement["endAttempt"], 1>>;
  function isComplete(result: string): boolean;
}
export {};
`;

interface Program {
  /** The document with the line of the block, or the name under which its reader saves it. */
  readonly name: string;
  readonly text: string;
}

/** Lists the blocks of TypeScript in a document. */
function listPrograms(document: string): Program[] {
  const text = readFileSync(join(root, document), "utf8");
  const blocks = text.matchAll(/(?:^<!-- file: (\S+) -->\n\n)?^```ts\n(.*?)^```$/gms);
  return [...blocks].map(({ 1: file, 2: program = "", index }) => {
    const line = text.slice(0, index).split("\n").length;
    return { name: file ?? `${document}-${line}.ts`, text: program };
  });
}

const folder = mkdtempSync(join(tmpdir(), "document-programs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const compilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  module: "nodenext",
  target: "es2023",
  lib: ["es2023"],
  types: ["node"],
};

/** Checks the types of programs as a project that has installed the packages would, and lists the errors. */
function listErrors(name: string, programs: readonly Program[]): string[] {
  const project = join(folder, name);
  const files = [...programs, { name: "reader.d.ts", text: READER }];
  for (const file of files) {
    mkdirSync(dirname(join(project, file.name)), { recursive: true });
    // A program is a module of its own, even if it imports nothing.
    writeFileSync(join(project, file.name), `${file.text}export {};\n`);
  }
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  const installed = globSync("{packages,apps}/*", { cwd: root }).map((path) => {
    const manifest = readFileSync(join(root, path, "package.json"), "utf8");
    return [(JSON.parse(manifest) as { name: string }).name, path] as const;
  });
  const wire = "packages/wire/node_modules/valibot";
  const others = [
    ["valibot", wire],
    ["@types/node", "node_modules/@types/node"],
  ] as const;
  for (const [dependency, path] of [...installed, ...others]) {
    const link = join(project, "node_modules", dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, path), link);
  }
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", project], {
    encoding: "utf8",
    cwd: project,
  });
  return stdout.split("\n").filter((line) => line !== "");
}

it("every program in a document has the types of the packages that it imports", () => {
  const programs = documents.flatMap(listPrograms);
  expect(programs.length).toBeGreaterThan(20);
  expect(listErrors("all", programs)).toEqual([]);
});

it("a program with an argument that its package does not take has an error", () => {
  const text = 'import { bytesToHex } from "@agent/crypto";\nbytesToHex("text");\n';
  expect(listErrors("wrong", [{ name: "wrong.ts", text }])).toEqual([
    expect.stringContaining("wrong.ts(2,12): error"),
  ]);
});
