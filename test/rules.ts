import { builtinModules } from "node:module";
import { dirname, join } from "node:path";
import type { Package, Source } from "./workspace.ts";

/** Yields one line for each violation in a package. */
export type Rule = (pkg: Package, workspace: readonly Package[]) => Iterable<string>;

const pure = {
  "@agent/crypto": [],
  "@agent/budget": [],
  "@agent/routing-semiring": [],
  "@agent/receipts": ["crypto"],
  "@agent/credentials": ["crypto"],
  "@agent/transparency": ["crypto"],
  "@agent/ledger": ["crypto"],
  "@agent/verify": [
    "budget",
    "command-line",
    "credentials",
    "crypto",
    "ledger",
    "receipts",
    "routing-semiring",
    "transparency",
  ],
  "@agent/wire": ["budget", "credentials", "crypto", "ledger", "receipts"],
  "@agent/federation-protocol": ["budget", "crypto", "receipts", "routing-semiring", "wire"],
};
const shared = ["client", "credentials", "crypto", "receipts", "transparency", "wire"];
const forServers = ["command-line", "ip-networks", "ledger"];

/** Every package, lowest layer first, with the packages on which it may depend. */
const layers: Readonly<Record<string, readonly string[]>> = {
  "@agent/command-line": [],
  ...pure,
  "@agent/client": ["command-line", "credentials", "crypto", "receipts", "transparency", "wire"],
  "@agent/ip-networks": [],
  "@agent/testkit": [...shared, "budget", "federation-protocol", "routing-semiring"],
  "@agent/test-postgres": [],
  "@agent/agent-server": [...shared, ...forServers],
  // The console runs in browsers, so it depends only on packages that do, too.
  "@agent/console": ["client", "crypto", "routing-semiring", "transparency", "verify", "wire"],
  "@agent/relay": [
    ...shared,
    ...forServers,
    "budget",
    "federation-protocol",
    "routing-semiring",
    "verify",
  ],
};
/** No package depends on these, so they may depend on any. */
const outermost = ["@agent/demo", "@agent/bench", "@agent/examples", "@agent/workspace-tests"];
/** Tests may also depend on the test packages, and on the relay as an app to call. */
const forTests = ["@agent/testkit", "@agent/test-postgres", "@agent/relay"];

/** Dependencies of the root, which every test may import. */
const testTools = ["vitest", "fast-check"];

const ours = (names: readonly string[]) => names.filter((name) => name.startsWith("@agent/"));

export const layersPointDown: Rule = function* ({ name, dependencies, devDependencies }) {
  if (outermost.includes(name)) return;
  const allowed = layers[name]?.map((lower) => `@agent/${lower}`);
  if (allowed === undefined) return yield `${name} has no place in the layers`;
  for (const lower of ours(dependencies)) {
    if (!allowed.includes(lower)) yield `${name} must not depend on ${lower}`;
  }
  for (const lower of ours(devDependencies)) {
    if (![...allowed, ...forTests].includes(lower))
      yield `${name} must not be tested with ${lower}`;
  }
};

export const referencesAreDependencies: Rule = function* ({ name, ...pkg }, workspace) {
  if (pkg.tsconfig === undefined) return;
  const folders = workspace
    .filter((other) => pkg.dependencies.includes(other.name))
    .map(({ folder }) => folder);
  for (const folder of new Set([...folders, ...pkg.tsconfig.references])) {
    if (!folders.includes(folder)) yield `${name} refers to ${folder} without depending on it`;
    if (!pkg.tsconfig.references.includes(folder)) yield `${name} does not refer to ${folder}`;
  }
};

export const importsAreDeclared: Rule = function* (pkg, workspace) {
  for (const source of pkg.sources) {
    const declared = [
      ...pkg.dependencies,
      ...(source.isTest ? [...pkg.devDependencies, pkg.name, ...testTools] : []),
    ];
    for (const specifier of source.imports) {
      if (specifier.startsWith(".")) {
        const target = join(dirname(source.path), specifier);
        if (target.startsWith("..")) yield `${at(pkg, source)} leaves its package: ${specifier}`;
        continue;
      }
      if (isBuiltin(specifier) || pkg.aliases.includes(specifier)) continue;
      const target = packageOf(specifier);
      const exported = workspace.find(({ name }) => name === target)?.exports;
      if (!declared.includes(target)) yield `${at(pkg, source)} imports undeclared ${target}`;
      else if (exported?.includes(specifier) === false)
        yield `${at(pkg, source)} reaches into ${specifier}`;
    }
  }
};

const effects = [
  /\bDate\.now\b/,
  /\bDate\(\)/,
  /\bMath\.random\b/,
  /\bgetRandomValues\b/,
  /\bprocess\./,
  /(?<!\.)\bfetch\(/,
  /\bset(Timeout|Interval|Immediate)\b/,
  /\bperformance\.now\b/,
];
/** The only files that use clock, randomness, timers and the process; all others receive them as arguments. */
const edges: Readonly<Record<string, readonly (readonly [path: string, effects: RegExp])[]>> = {
  "@agent/client": [
    ["src/environment.ts", /./],
    ["src/calls/call.ts", /setTimeout/],
  ],
  "@agent/testkit": [
    ["src/clock.ts", /setImmediate/],
    ["src/network/main.ts", /process/],
  ],
  "@agent/test-postgres": [
    ["src/databases.ts", /process/],
    ["src/ensure-database.ts", /process/],
    ["src/find-binaries.ts", /process/],
    ["src/postgres-server.ts", /process/],
    ["src/supervisor.ts", /process/],
  ],
  "@agent/agent-server": [
    ["src/main.ts", /./],
    ["src/runtime.ts", /./],
  ],
  "@agent/console": [
    ["src/verify/verifying/file-verifier.ts", /Date\.now|setTimeout/],
    ["src/log/fetch-bytes.ts", /fetch/],
  ],
  "@agent/relay": [
    ["src/main.ts", /./],
    ["src/storage/yield-to-event-loop.ts", /setImmediate/],
    ["src/storage/writing/batch-runner.ts", /setImmediate/],
    ["src/storage/check/check-process.ts", /process\./],
    ["src/storage/postgres/postgres-tx.ts", /setImmediate/],
    ["src/storage/postgres/writing-connection.ts", /setTimeout/],
  ],
};

export const effectsStayAtTheEdge: Rule = function* (pkg) {
  if (outermost.includes(pkg.name)) return;
  for (const source of pkg.sources) {
    if (source.isTest || isNodeFile(source)) continue;
    const allowed = (edges[pkg.name] ?? []).filter(([path]) => path === source.path);
    for (const found of matches(source, effects)) {
      if (!allowed.some(([, effect]) => effect.test(found)))
        yield `${at(pkg, source)} uses ${found}`;
    }
  }
};

/** Every way to read the time, including those of SQL and a `Date` without arguments. */
const timeSources = [
  /\bDate\.now\b/,
  /\bDate\(\)/,
  /\bnew Date\b(?!\()/,
  /\bperformance\b/,
  /\bhrtime\b/,
  /\bTemporal\.Now\b/,
  /\b(strftime|unixepoch|julianday|current_(timestamp|date|time))\b/i,
];
const CLOCK_SOURCES = "{ wall: Date.now, monotonic: () => performance.now() }";

/** A jump of the wall clock must affect neither jobs nor readers, so both call `runtime.now()`. */
export const relayReadsOneClock: Rule = function* (pkg) {
  if (pkg.name !== "@agent/relay") return;
  for (const source of pkg.sources.filter(({ isTest }) => !isTest)) {
    const code =
      source.path === "src/main.ts" ? source.code.replace(CLOCK_SOURCES, "") : source.code;
    for (const found of matches({ ...source, code }, timeSources)) {
      yield `${at(pkg, source)} reads the time by ${found}`;
    }
  }
};

/** The only file that runs a tool, after limits, offer, policy and audit, and the file that wraps a module's tool. */
const TOOL_RUNNERS = ["src/tools/calling/call-tool.ts", "src/tools/calling/compile-tool.ts"];

/** A new interface of the agent must not run a tool without checking its offer and its policy. */
export const toolsRunInOnePlace: Rule = function* (pkg) {
  if (pkg.name !== "@agent/agent-server") return;
  for (const source of pkg.sources) {
    if (source.isTest || TOOL_RUNNERS.includes(source.path)) continue;
    for (const found of matches(source, [/\.handler\(/])) yield `${at(pkg, source)} uses ${found}`;
  }
};

export const pureRunsAnywhere: Rule = function* (pkg) {
  if (!(pkg.name in pure)) return;
  if (pkg.tsconfig?.extends !== "../../tsconfig.pure.json")
    yield `${pkg.name} is not compiled as pure`;
  for (const source of pkg.sources) {
    if (source.isTest || isNodeFile(source)) continue;
    for (const specifier of source.imports.filter(isBuiltin)) {
      yield `${at(pkg, source)} imports ${specifier}`;
    }
  }
};

/** The places that may import the relay's libraries; paths are relative to its src folder. */
const importPlaces: readonly (readonly [library: RegExp, importer: RegExp])[] = [
  [/^hono$/, /^(http|realtime)\/|^app\.ts$/],
  [/^@hono\/node-server$|^ws$/, /^realtime\/mount-sockets\.ts$|^serve\.ts$/],
  [/^undici$/, /^http\/egress\/egress\.ts$/],
  [/^@modelcontextprotocol\//, /^delivery\/endpoints\/mcp-forward\.ts$/],
  [/^stripe$/, /^payments\/cards\//],
  [/^@x402\//, /^payments\/x402\//],
  [/^better-sqlite3$/, /^storage\//],
  [/^kysely$/, /^storage\/queries\//],
  [/^pg$/, /^storage\/(postgres|copying)\//],
  [/^storage\/queries\/compiled-query\.ts$/, /^storage\/|(^|[/-])store\.ts$/],
  [/\/routes\.ts$/, /^app\.ts$/],
];
/** Stores that other features may read, with those features; all other stores are private to their feature. */
const readers: Readonly<Record<string, readonly string[]>> = {
  "agents/store.ts": [
    "a2a",
    "approvals",
    "budget",
    "credentials",
    "delivery",
    "federation",
    "identity",
    "inspections",
    "pairing",
    "realtime",
    "records",
    "tasks",
    "trust",
    "visibility",
    "webhooks",
  ],
  "agents/devices/device-store.ts": ["approvals", "identity", "pairing", "realtime", "tasks"],
  "agents/keys/key-store.ts": [
    "approvals",
    "credentials",
    "federation",
    "inspections",
    "pairing",
    "tasks",
  ],
  "agents/keys/key-proof-store.ts": ["inspections"],
  "agents/discovery/discovery-store.ts": ["federation"],
  "agents/discovery/listing-store.ts": ["a2a", "inspections", "routing", "tasks", "visibility"],
  "agents/discovery/profile-store.ts": ["credentials", "federation", "routing", "visibility"],
  "inspections/reading/count-store.ts": ["visibility"],
  "inspections/store.ts": ["admin", "processes"],
  "ledger/store.ts": ["budget", "inspections"],
  "processes/seen-store.ts": ["federation", "pairing"],
  "budget/settlement-facts-store.ts": ["federation"],
  "tasks/store.ts": ["delivery", "federation", "inspections", "ledger", "realtime", "operator"],
  "tasks/receipts/receipt-store.ts": ["federation", "ledger", "operator"],
  "tasks/assignment/no-show-store.ts": ["operator"],
  "tasks/assignment/postpone-store.ts": ["admin"],
  "tasks/events/event-store.ts": ["operator"],
  "tasks/submission/parent-store.ts": ["operator"],
  "tasks/assignment/assignment-store.ts": ["delivery", "realtime"],
  "tasks/assignment/claim-store.ts": ["delivery", "federation", "realtime"],
  "trust/store.ts": ["credentials", "federation", "processes", "routing"],
  "credentials/store.ts": ["tasks"],
  "admin/store.ts": ["observability"],
  "budget/accounts/account-store.ts": ["admin"],
  "budget/store.ts": ["payments"],
  "federation/settlement/reserved-store.ts": ["admin"],
  "federation/peers/peer-store.ts": ["witness"],
  "log/store.ts": ["witness"],
  "witness/store.ts": ["log"],
};

/** Features that must not import the features built on them. */
const mustNotImport: Readonly<Record<string, readonly string[]>> = {
  routing: ["delivery", "tasks"],
  tasks: ["delivery"],
};

export const relayKeepsItsFolders: Rule = function* (pkg) {
  if (pkg.name !== "@agent/relay") return;
  for (const source of pkg.sources) {
    if (source.isTest) continue;
    const path = source.path.replace(/^src\//, "");
    for (const specifier of source.imports) {
      const target = specifier.startsWith(".") ? join(dirname(path), specifier) : specifier;
      const misplaced = importPlaces.some(
        ([library, importer]) => library.test(target) && !importer.test(path),
      );
      if (misplaced || (target !== specifier && !mayImport(path, target)))
        yield `${at(pkg, source)} must not import ${target}`;
    }
  }
};

function mayImport(path: string, target: string): boolean {
  const [from, to] = [folderOf(path), folderOf(target)];
  if (from === to) return true;
  if (from === "storage") return to === "" || to === "config";
  if (mustNotImport[from]?.includes(to) === true) return false;
  if (from === "http") return ["", "identity", "observability", "storage"].includes(to);
  if (!/(^|[/-])store\.ts$/.test(target)) return true;
  return readers[target]?.includes(from) ?? false;
}

/** A program that parses its arguments itself could accept an option that it does not use. */
export const argumentsAreParsedInOnePlace: Rule = function* (pkg) {
  for (const source of pkg.sources) {
    if (source.isTest || `${pkg.folder}/${source.path}` === OPTION_PARSER) continue;
    for (const found of matches(source, [/\bparseArgs\b/]))
      yield `${at(pkg, source)} uses ${found}`;
  }
};

const OPTION_PARSER = "packages/command-line/src/parse-options.ts";

export const filesAreNamedForOnePurpose: Rule = function* (pkg) {
  for (const source of pkg.sources) {
    const names = source.path.replace(/(\.slow)?(\.(test|node|config|d))?\.tsx?$/, "").split("/");
    for (const name of names) {
      if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) yield `${at(pkg, source)} is not in kebab case`;
      if (/(^|-)(utils?|helpers?|common|types?|misc)$/.test(name))
        yield `${at(pkg, source)} says nothing about its purpose`;
    }
  }
};

export const exportsAreNamedOneByOne: Rule = function* (pkg) {
  for (const source of pkg.sources) {
    const configures = source.path.endsWith(".config.ts");
    for (const found of matches(source, [/^export (\*|default\b)/m])) {
      if (!configures) yield `${at(pkg, source)} has "${found}"`;
    }
  }
};

const at = (pkg: Package, source: Source) => `${pkg.folder}/${source.path}`;

const isNodeFile = ({ path }: Source) => path.endsWith(".node.ts");

const folderOf = (path: string) => path.replace(/\/?[^/]+$/, "").replace(/\/.*/, "");

const isBuiltin = (specifier: string) =>
  specifier.startsWith("node:") || builtinModules.includes(specifier);

const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;

function* matches(source: Source, patterns: readonly RegExp[]): Iterable<string> {
  for (const pattern of patterns) {
    const found = pattern.exec(source.code)?.[0];
    if (found !== undefined) yield found;
  }
}
