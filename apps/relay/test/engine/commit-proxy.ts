import { startTcpProxy, type TcpProxy } from "@agent/test-postgres";

/** A proxy in front of a Postgres server that can lose the answers to a COMMIT. */
export interface CommitProxy extends TcpProxy {
  /** Ends each connection that sends a COMMIT from now on, once the server has answered it. */
  loseCommits(lose: boolean): void;
  /** Ends each connection that sends a COMMIT before the server gets it. */
  cutBeforeCommit(cut: boolean): void;
  /** Fails the transaction of each COMMIT first, without the client's knowledge. */
  failBeforeCommit(fail: boolean): void;
  countLost(): number;
}

/** A statement that fails, as the message of the protocol. */
const FAILING = buildQuery("SELECT 1 / 0");
/** The message with which the server ends each answer. */
const READY = 0x5a;

function buildQuery(text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const head = Buffer.alloc(5);
  head.write("Q");
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

/** Whether bytes of the server end with the end of an answer: its type, its length and a state. */
const endsAnswer = (bytes: Buffer) =>
  bytes.at(-6) === READY && bytes.readInt32BE(bytes.length - 5) === 5;

export async function startCommitProxy(serverUrl: string): Promise<CommitProxy> {
  let losing = false;
  let cutting = false;
  let failing = false;
  let lost = 0;
  const proxy = await startTcpProxy(serverUrl, (client, server) => {
    let isCommitting = false;
    /** The COMMIT that waits until the failed statement is answered. */
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
