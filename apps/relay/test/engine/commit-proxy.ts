import { startTcpProxy, type TcpProxy } from "@agent/test-postgres";

/** A proxy in front of a Postgres server that can lose the answers to COMMIT statements. */
export interface CommitProxy extends TcpProxy {
  /** From now on, closes each connection that sends a COMMIT, once the server has answered it. */
  loseCommits(lose: boolean): void;
  /** Closes each connection that sends a COMMIT, before the COMMIT reaches the server. */
  cutBeforeCommit(cut: boolean): void;
  /** Makes the transaction fail before each COMMIT, without the client's knowledge. */
  failBeforeCommit(fail: boolean): void;
  countLost(): number;
}

/** A failing statement, encoded as a message of the protocol. */
const FAILING = buildQuery("SELECT 1 / 0");
/** The type of the message with which the server ends each answer. */
const READY = 0x5a;

function buildQuery(text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const head = Buffer.alloc(5);
  head.write("Q");
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

/** Whether bytes from the server end with the end of an answer: its type, its length and a state. */
const endsAnswer = (bytes: Buffer) =>
  bytes.at(-6) === READY && bytes.readInt32BE(bytes.length - 5) === 5;

export async function startCommitProxy(serverUrl: string): Promise<CommitProxy> {
  let losing = false;
  let cutting = false;
  let failing = false;
  let lost = 0;
  const proxy = await startTcpProxy(serverUrl, (client, server) => {
    let isCommitting = false;
    /** The COMMIT that is delayed until the failing statement was answered. */
    let delayed: Buffer | undefined;
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on("error", end).on("close", end);
    client.on("data", (bytes) => {
      const isCommit = bytes.includes("COMMIT\0");
      if (isCommit && cutting) return end();
      isCommitting ||= isCommit && losing;
      if (isCommit && failing) delayed = bytes;
      server.write(delayed === undefined ? bytes : FAILING);
    });
    server.on("data", (bytes) => {
      if (delayed !== undefined) {
        if (!endsAnswer(bytes)) return;
        server.write(delayed);
        delayed = undefined;
        return;
      }
      if (!isCommitting) return void client.write(bytes);
      lost += 1;
      end();
    });
  });
  return {
    ...proxy,
    loseCommits: (lose) => void (losing = lose),
    cutBeforeCommit: (cut) => void (cutting = cut),
    failBeforeCommit: (fail) => void (failing = fail),
    countLost: () => lost,
  };
}
