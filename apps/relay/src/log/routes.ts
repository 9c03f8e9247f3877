import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { getLogState } from "./get-log-state.ts";
import { proveArtifact } from "./prove.ts";
import { answerHead } from "./published-log.ts";
import { serveTile } from "./serve-tiles.ts";
import { listEvidence } from "../witness/store.ts";
import { findNewestHead, findPublishedHead } from "./store.ts";

type LogHandlers = Pick<
  Handlers,
  "getCheckpoint" | "getLatestCheckpoint" | "getLogTile" | "getLogProof" | "getLogState"
>;

export function logHandlers(services: Services): LogHandlers {
  const { read } = services.storage;
  return {
    getCheckpoint: async () => answerHead(await findPublishedHead(read)),
    getLatestCheckpoint: async () => answerHead(await findNewestHead(read)),
    getLogTile: ({ params }, { headers }) =>
      serveTile(services, `tile/${params.level}/${params.tile}`, headers.get("accept-encoding")),
    getLogProof: ({ query }) => proveArtifact(services, query.artifact),
    getLogState: async () => {
      const witnesses = [...services.logWitnesses.listStates()];
      const evidence = await listEvidence(read);
      return { status: 200, body: { ...(await getLogState(services)), witnesses, evidence } };
    },
  };
}
