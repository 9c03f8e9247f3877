import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyPrimary, type Primary } from "./copy-primary.ts";
import { findBinaries, getInstallation, type PostgresBinaries } from "./find-binaries.ts";

/**
 * The program that owns one server: it prints the server's address. When its standard input ends, which also
 * happens when the parent process is killed, it ends the server and removes its folder.
 */

const MAX_STARTS = 5;

/** Fast settings, declared as disposable because otherwise a relay refuses a server that can lose data. */
const DISPOSABLE = [
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "agent.disposable=on",
];

/** PostgreSQL refuses to run as root, so root runs it as an unprivileged user. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;
const user = isRoot ? UNPRIVILEGED : {};

const [, , kind = "fast", primary] = process.argv;
const isDurable = kind !== "fast";

const folder = mkdtempSync(join(tmpdir(), "relay-postgres-"));
if (isRoot) chownSync(folder, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
const data = join(folder, "data");

/** Copies the programs if the user may not read them, as in a checkout in root's home. */
async function prepareBinaries(): Promise<PostgresBinaries> {
  const found = await findBinaries();
  const { status } = spawnSync(found.postgres, ["--version"], { ...user, cwd: folder });
  if (status === 0) return found;
  const installation = join(folder, "installation");
  cpSync(getInstallation(found), installation, { recursive: true, verbatimSymlinks: true });
  const bin = join(installation, "bin");
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres") };
}

/** Fills the data folder with an empty cluster, or with that of the server to replicate. */
async function prepareData(binaries: PostgresBinaries): Promise<void> {
  if (primary === undefined) return createCluster(binaries);
  await copyPrimary(JSON.parse(primary) as Primary, data, isRoot ? UNPRIVILEGED : undefined);
}

/** The cluster sorts by the rules of American English, which reveals a column that lacks COLLATE "C". */
function createCluster({ initdb }: PostgresBinaries): void {
  const locale = ["--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
  const options = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"];
  const { status, error, stderr } = spawnSync(initdb, [...options, ...locale], {
    ...user,
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Resolves to the process once it accepts connections, or to undefined if its port is already in use. */
async function startOn(port: number, { postgres }: PostgresBinaries) {
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    "unix_socket_directories=",
    "max_connections=600",
    "shared_buffers=128MB",
    "max_wal_size=2GB",
    "checkpoint_timeout=30min",
    ...(isDurable ? [] : DISPOSABLE),
  ];
  const options = settings.flatMap((setting) => ["-c", setting]);
  const server = spawn(postgres, ["-D", data, ...options], {
    ...user,
    cwd: folder,
    // Ctrl-C reaches the terminal's whole process group, but the server must end after its clients.
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  const ready = new Promise<boolean>((resolve) => {
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (log.length < 10_000) log += text;
      if (/ready to accept (read-only )?connections/.test(log)) resolve(true);
    });
    server.once("close", () => resolve(false));
  });
  if (await ready) return server;
  if (log.includes("could not bind")) return undefined;
  throw new Error(`postgres did not start: ${log}`);
}

async function startServer(binaries: PostgresBinaries) {
  for (let start = 0; start < MAX_STARTS; start++) {
    const port = await findFreePort();
    const server = await startOn(port, binaries);
    if (server !== undefined) return { server, port };
  }
  throw new Error("postgres found no free port");
}

/** Ends the server without waiting for its clients, whose processes may be suspended. */
async function endServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "close");
  server.kill(isDurable ? "SIGINT" : "SIGQUIT");
  await ended;
}

async function main(): Promise<void> {
  const input = once(process.stdin.resume(), "end");
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  let server: ChildProcess | undefined;
  try {
    const binaries = await prepareBinaries();
    await prepareData(binaries);
    const started = await startServer(binaries);
    server = started.server;
    const address = `postgres://postgres@127.0.0.1:${started.port}/postgres`;
    process.stdout.write(`${JSON.stringify({ url: address, pid: server.pid, folder })}\n`);
    await Promise.race([input, once(server, "close")]);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
  if (server !== undefined) await endServer(server);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  // The open standard input would keep the process running.
  process.exit();
}

await main();
