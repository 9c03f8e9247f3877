import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;

/** The programs of a built checkout, each with the source that is run here instead. */
const programs = {
  "apps/relay/dist/main.js": "apps/relay/src/main.ts",
  "apps/agent-server/dist/main.js": "apps/agent-server/src/main.ts",
  "packages/verify/dist/command/main.node.js": "packages/verify/src/command/main.node.ts",
  "packages/client/dist/monitor/command/main.node.js":
    "packages/client/src/monitor/command/main.node.ts",
};

const AGENT_READY = /listening on http:\/\/127\.0\.0\.1:(\d+)[^]*registered at/;

/** The programs that a guide starts, each with its default port and the output that shows that it is ready. */
const servers = {
  /** Without configuration, a relay can only be reached from its own machine. */
  relay: { port: 3000, ready: /"msg":"relay\.listening".*"host":"127\.0\.0\.1","port":(\d+)/ },
  "agent server": { port: 3100, ready: AGENT_READY },
  /** The agent that does the work if the guide is about another agent. */
  worker: { port: 3199, ready: AGENT_READY },
};
type ServerName = keyof typeof servers;

/** A folder in which the blocks of a guide run one after another, as in a reader's terminal. */
export interface GuideShell {
  /** The variables that the blocks have set and exported so far, and those that tests add. */
  readonly variables: Record<string, string>;
  /** Replaces the programs' default addresses by their actual ones. */
  adapt(text: string): string;
  writeFile(path: string, text: string): void;
  /** Runs commands to their end and returns their output. Throws if the exit code differs. */
  run(commands: string, exitCode?: number): Promise<string>;
  /** Runs a program until `stop`; resolves when it is ready. */
  start(name: string, commands: string): Promise<void>;
  stop(name: string): Promise<void>;
  close(): Promise<void>;
}

export function openGuideShell(): GuideShell {
  const folder = createCheckout();
  const ports = new Map<number, string>();
  const running = new Map<string, ChildProcess>();
  const variables: Record<string, string> = {
    PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
    HOME: folder,
    NODE_OPTIONS: "--conditions=agent-source",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    PORT: "0",
  };

  /** Passes on every variable, because a reader types all blocks into the same terminal. */
  function spawnShell(commands: string, options: { readonly detached: boolean }): ChildProcess {
    const script = `set -ae\nexec 2>&1\n[ ! -f .variables ] || . ./.variables\n${commands}\n`;
    const stdio = ["ignore", "pipe", "inherit"] as const;
    // The relay warns about variables that it does not know.
    const onAnyPort = commands.includes("agent-server") ? { AGENT_PORT: "0" } : {};
    return spawn("sh", ["-c", script], {
      cwd: folder,
      env: { ...variables, ...onAnyPort },
      ...options,
      stdio: [...stdio],
    });
  }

  async function stop(name: string): Promise<void> {
    const child = running.get(name);
    running.delete(name);
    if (child?.pid === undefined || child.exitCode !== null) return;
    const ended = once(child, "close");
    process.kill(-child.pid, "SIGTERM");
    await ended;
  }

  /** Replaces the two example paths too, as a reader would. */
  const adapt = (text: string) =>
    text
      .replaceAll("/path/to/agent-relay", folder)
      .replaceAll("/home/me", folder)
      .replaceAll(/127\.0\.0\.1:(\d+)/g, (address, port) => {
        const actual = ports.get(Number(port));
        return actual === undefined ? address : `127.0.0.1:${actual}`;
      });

  return {
    variables,
    adapt,
    writeFile: (path, text) => writeFileSync(join(folder, path), adapt(text)),
    async run(commands, exitCode = 0) {
      const child = spawnShell(`${adapt(commands)}\nunset AGENT_PORT\nexport -p > .variables`, {
        detached: false,
      });
      const output = collectOutput(child);
      await once(child, "close");
      if (child.exitCode === exitCode) return output.text;
      throw new Error(`exit code ${child.exitCode} instead of ${exitCode}:\n${output.text}`);
    },
    async start(name, commands) {
      if (!isServerName(name)) throw new Error(`"${name}" is no program that guides start`);
      const { port, ready } = servers[name];
      // A restarted program gets the same port as before.
      const chosen = ports.get(port) ?? "0";
      const onPort = `PORT=${chosen} AGENT_PORT=${chosen}\n${adapt(commands)}`;
      const child = spawnShell(onPort, { detached: true });
      running.set(name, child);
      ports.set(port, await waitForOutput(child, ready));
    },
    stop,
    async close() {
      await Promise.all([...running.keys()].map(stop));
      rmSync(folder, { recursive: true });
    },
  };
}

const isServerName = (name: string): name is ServerName => Object.hasOwn(servers, name);

/** Creates a folder that looks like a built checkout, but runs the sources. */
function createCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), "guide-"));
  for (const [built, source] of Object.entries(programs)) {
    mkdirSync(dirname(join(folder, built)), { recursive: true });
    writeFileSync(join(folder, built), `import ${JSON.stringify(join(root, source))};\n`);
  }
  writeFileSync(join(folder, "package.json"), '{"type": "module"}\n');
  mkdirSync(join(folder, "examples"));
  // The folder itself is not linked, because readers save programs in it.
  for (const path of ["vectors", "examples/receipt.json", "examples/node_modules"]) {
    symlinkSync(join(root, path), join(folder, path));
  }
  return folder;
}

function collectOutput(child: ChildProcess): { readonly text: string } {
  const output = { text: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output.text += text));
  return output;
}

/** Resolves with the first group of the pattern once the output matches it. */
function waitForOutput(child: ChildProcess, pattern: RegExp): Promise<string> {
  const output = collectOutput(child);
  return new Promise((resolve, reject) => {
    const check = () => {
      const found = pattern.exec(output.text);
      if (found !== null) resolve(found[1] ?? "");
    };
    child.stdout?.on("data", check);
    child.once("close", () => reject(new Error(`the program ended:\n${output.text}`)));
  });
}
