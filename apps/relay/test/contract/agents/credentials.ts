import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import {
  credentialsPath,
  submitCredentials,
  createReputationCredential,
  resignCredential,
} from "../../agents/credentials.ts";
import type { Reply, TestRelay } from "../../test-relay.ts";
import type { Case, Contract } from "../outcome.ts";

const presentation = ({ agentId }: TestAgent) => `/api/v1/agents/${agentId}/presentation`;
const revocation = ({ agentId }: TestAgent) => `/api/v1/agents/${agentId}/revoke-credential`;
const status = (id: unknown) => `/api/v1/credentials/${String(id)}/status`;

const TOO_LARGE = "x".repeat(limits.credentialBytes);

interface Scene {
  readonly t: TestRelay;
  readonly boss: TestAgent;
  readonly worker: TestAgent;
}

/** Runs a case with two agents, the boss and the worker. */
const betweenAgents =
  (run: (scene: Scene) => Promise<Reply>): Case =>
  async (t) =>
    run({ t, boss: await t.createAgent(), worker: await t.createAgent() });

const createSampleReputation = ({ t, boss, worker }: Scene) =>
  createReputationCredential(boss, worker, { now: t.clock.now() });

/** Runs such a case after a credential of the worker was stored. */
const withStoredCredential = (
  run: (scene: Scene, credential_id: unknown) => Promise<Reply>,
): Case =>
  betweenAgents(async (scene) => {
    const credential = createSampleReputation(scene);
    await submitCredentials(scene.t, scene.boss, scene.worker, credential);
    return run(scene, credential.id);
  });

export const credentialsContract: Contract<
  | "listCredentials"
  | "submitCredentials"
  | "presentCredentials"
  | "verifyCredential"
  | "revokeCredential"
  | "credentialStatus"
> = {
  listCredentials: {
    200: withStoredCredential(({ t, worker }) => t.as(worker, "GET", credentialsPath(worker))),
    "credential.not_found": betweenAgents(({ t, worker }) =>
      t.as(worker, "GET", credentialsPath(worker)),
    ),
    "request.invalid": betweenAgents(({ t, worker }) =>
      t.as(worker, "GET", `${credentialsPath(worker)}?cursor=%20`),
    ),
  },

  submitCredentials: {
    200: withStoredCredential((scene) =>
      submitCredentials(scene.t, scene.boss, scene.worker, createSampleReputation(scene)),
    ),
    201: betweenAgents((scene) =>
      submitCredentials(scene.t, scene.boss, scene.worker, createSampleReputation(scene)),
    ),
    "agent.not_found": betweenAgents((scene) =>
      submitCredentials(
        scene.t,
        scene.boss,
        scene.t.createUnknownAgent(),
        createSampleReputation(scene),
      ),
    ),
    "credential.too_large": betweenAgents((scene) =>
      submitCredentials(scene.t, scene.boss, scene.worker, {
        ...createSampleReputation(scene),
        more: TOO_LARGE,
      }),
    ),
    "credential.invalid": betweenAgents((scene) =>
      submitCredentials(scene.t, scene.boss, scene.worker, {
        ...createSampleReputation(scene),
        more: "unsigned",
      }),
    ),
    "credential.type_unknown": betweenAgents((scene) => {
      const type = ["VerifiableCredential", "AnotherCredential"];
      const credential = resignCredential(scene.boss, createSampleReputation(scene), { type });
      return submitCredentials(scene.t, scene.boss, scene.worker, credential);
    }),
    "credential.wrong_subject": betweenAgents((scene) =>
      submitCredentials(scene.t, scene.boss, scene.boss, createSampleReputation(scene)),
    ),
    "credential.wrong_issuer": betweenAgents(({ t, worker }) =>
      submitCredentials(
        t,
        worker,
        worker,
        createReputationCredential(worker, worker, { now: t.clock.now() }),
      ),
    ),
    "credential.not_participant": betweenAgents(async (scene) =>
      submitCredentials(
        scene.t,
        await scene.t.createAgent(),
        scene.worker,
        createSampleReputation(scene),
      ),
    ),
    "credential.id_taken": withStoredCredential(({ t, boss, worker }) => {
      const about = { task_count: 2 };
      return submitCredentials(
        t,
        boss,
        worker,
        createReputationCredential(boss, worker, { now: t.clock.now(), about }),
      );
    }),
  },

  presentCredentials: {
    200: withStoredCredential(({ t, worker }) => t.as(worker, "POST", presentation(worker))),
    "credential.not_found": betweenAgents(({ t, worker }) =>
      t.as(worker, "POST", presentation(worker)),
    ),
  },

  verifyCredential: {
    200: betweenAgents((scene) =>
      scene.t.request("POST", "/api/v1/credentials/verify", {
        body: createSampleReputation(scene),
      }),
    ),
    "credential.too_large": (t) =>
      t.request("POST", "/api/v1/credentials/verify", { body: { more: TOO_LARGE } }),
  },

  revokeCredential: {
    200: withStoredCredential(({ t, worker }, credential_id) =>
      t.as(worker, "POST", revocation(worker), { credential_id, reason: "a mistake" }),
    ),
    "credential.not_found": betweenAgents(({ t, worker }) =>
      t.as(worker, "POST", revocation(worker), { credential_id: "urn:uuid:unknown" }),
    ),
    "credential.not_participant": withStoredCredential(async ({ t }, credential_id) => {
      const other = await t.createAgent();
      return t.as(other, "POST", revocation(other), { credential_id });
    }),
  },

  credentialStatus: {
    200: withStoredCredential(({ t }, id) => t.request("GET", status(id))),
    "credential.not_found": (t) => t.request("GET", status("urn:uuid:unknown")),
  },
};
