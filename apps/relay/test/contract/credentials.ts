import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { credentialsPath, handIn, reputation, resigned } from "../credentials.ts";
import type { Reply, TestRelay } from "../test-relay.ts";
import type { Case, Contract } from "./outcome.ts";

const presentation = ({ agentId }: TestAgent) => `/api/v1/agents/${agentId}/presentation`;
const revocation = ({ agentId }: TestAgent) => `/api/v1/agents/${agentId}/revoke-credential`;
const status = (id: unknown) => `/api/v1/credentials/${String(id)}/status`;

const tooLarge = "x".repeat(limits.credentialBytes);

interface Scene {
  readonly t: TestRelay;
  readonly boss: TestAgent;
  readonly worker: TestAgent;
}

/** The answer to a scene in which the boss speaks of the worker. */
const between =
  (run: (scene: Scene) => Promise<Reply>): Case =>
  async (t) =>
    run({ t, boss: await t.agent(), worker: await t.agent() });

const spoken = ({ t, boss, worker }: Scene) => reputation(boss, worker, { now: t.clock.now() });

/** The same, once the worker's credential is kept. */
const kept = (run: (scene: Scene, credential_id: unknown) => Promise<Reply>): Case =>
  between(async (scene) => {
    const credential = spoken(scene);
    await handIn(scene.t, scene.boss, scene.worker, credential);
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
    200: kept(({ t, worker }) => t.as(worker, "GET", credentialsPath(worker))),
    "credential.not_found": between(({ t, worker }) =>
      t.as(worker, "GET", credentialsPath(worker)),
    ),
    "request.invalid": between(({ t, worker }) =>
      t.as(worker, "GET", `${credentialsPath(worker)}?cursor=%20`),
    ),
  },

  submitCredentials: {
    200: kept((scene) => handIn(scene.t, scene.boss, scene.worker, spoken(scene))),
    201: between((scene) => handIn(scene.t, scene.boss, scene.worker, spoken(scene))),
    "agent.not_found": between((scene) =>
      handIn(scene.t, scene.boss, scene.t.stranger(), spoken(scene)),
    ),
    "credential.too_large": between((scene) =>
      handIn(scene.t, scene.boss, scene.worker, { ...spoken(scene), more: tooLarge }),
    ),
    "credential.invalid": between((scene) =>
      handIn(scene.t, scene.boss, scene.worker, { ...spoken(scene), more: "unsigned" }),
    ),
    "credential.type_unknown": between((scene) => {
      const type = ["VerifiableCredential", "AnotherCredential"];
      const credential = resigned(scene.boss, spoken(scene), { type });
      return handIn(scene.t, scene.boss, scene.worker, credential);
    }),
    "credential.wrong_subject": between((scene) =>
      handIn(scene.t, scene.boss, scene.boss, spoken(scene)),
    ),
    "credential.wrong_issuer": between(({ t, worker }) =>
      handIn(t, worker, worker, reputation(worker, worker, { now: t.clock.now() })),
    ),
    "credential.not_participant": between(async (scene) =>
      handIn(scene.t, await scene.t.agent(), scene.worker, spoken(scene)),
    ),
    "credential.id_taken": kept(({ t, boss, worker }) => {
      const about = { task_count: 2 };
      return handIn(t, boss, worker, reputation(boss, worker, { now: t.clock.now(), about }));
    }),
  },

  presentCredentials: {
    200: kept(({ t, worker }) => t.as(worker, "POST", presentation(worker))),
    "credential.not_found": between(({ t, worker }) => t.as(worker, "POST", presentation(worker))),
  },

  verifyCredential: {
    200: between((scene) =>
      scene.t.request("POST", "/api/v1/credentials/verify", { body: spoken(scene) }),
    ),
    "credential.too_large": (t) =>
      t.request("POST", "/api/v1/credentials/verify", { body: { more: tooLarge } }),
  },

  revokeCredential: {
    200: kept(({ t, worker }, credential_id) =>
      t.as(worker, "POST", revocation(worker), { credential_id, reason: "a mistake" }),
    ),
    "credential.not_found": between(({ t, worker }) =>
      t.as(worker, "POST", revocation(worker), { credential_id: "urn:uuid:unknown" }),
    ),
    "credential.not_participant": kept(async ({ t }, credential_id) => {
      const other = await t.agent();
      return t.as(other, "POST", revocation(other), { credential_id });
    }),
  },

  credentialStatus: {
    200: kept(({ t }, id) => t.request("GET", status(id))),
    "credential.not_found": (t) => t.request("GET", status("urn:uuid:unknown")),
  },
};
