import { formatKind, formatTime } from "./format-entry.ts";
import { ProveBox } from "./prove-box.tsx";
import type { ReadLogResult, ShownHead, ShownLog } from "./read-log.ts";

/** The whole page: the heads, the box for an artifact, and the newest entries. */
export function LogPage({ result }: { result: ReadLogResult }) {
  return (
    <main data-ready class="log">
      <header class="top">
        <h1>Transparency log</h1>
        <p>
          The append-only list of the hashes of what this relay signed. Your browser checks it with
          the key that the relay states.
        </p>
      </header>
      {result.ok ? <Log log={result.log} /> : <p role="alert">{result.reason}</p>}
    </main>
  );
}

function Log({ log }: { log: ShownLog }) {
  const { logKey, vkey, latest, published, entries } = log;
  return (
    <>
      <dl>
        <dt>Entries</dt>
        <dd data-size>{latest?.size ?? 0}</dd>
        <dt>Newest head</dt>
        <dd>{latest === null ? "none yet" : <Head head={latest} />}</dd>
        <dt>Published head</dt>
        <dd>{published === null ? "none yet" : <Head head={published} />}</dd>
        <dt>Key of the log</dt>
        <dd>
          <code>{vkey}</code>
        </dd>
      </dl>
      <p class="hint">
        This page does not check the signatures of witnesses; it shows the names that the relay
        sends. To check them, give <code>agent-verify</code> the keys that you got from the
        witnesses.
      </p>
      <ProveBox logKey={logKey} />
      <h2>Newest entries</h2>
      {entries.length === 0 ? <p>There are no entries yet.</p> : <Entries entries={entries} />}
    </>
  );
}

function Head({ head: { size, root, witnesses } }: { head: ShownHead }) {
  return (
    <>
      {size} {size === 1 ? "entry" : "entries"}, root <code>{root}</code>,{" "}
      {witnesses.length === 0
        ? "cosigned by no witness"
        : `cosigned, according to the relay, by ${witnesses.join(", ")}`}
    </>
  );
}

function Entries({ entries }: Pick<ShownLog, "entries">) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Index</th>
          <th scope="col">Kind</th>
          <th scope="col">Time</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ index, entry }) => (
          <tr key={index}>
            <td>{index}</td>
            <td>{formatKind(entry)}</td>
            <td>{formatTime(entry)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
