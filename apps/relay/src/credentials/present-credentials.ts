import { createPresentation, CREDENTIAL_LIMITS } from "@agent/credentials";
import { hexToDidKey } from "@agent/crypto";
import { refuse, type Answer, type Operations, type ParsedRequest } from "@agent/wire";
import { keepFitting } from "../http/paging/keep-fitting.ts";
import type { Services } from "../services.ts";
import type { CredentialRow } from "../storage/tables/credentials.ts";
import { parseCredential } from "./credential-row.ts";
import { renewCredential } from "./renew-credential.ts";
import { listCurrentCredentials, endCredentialSeries } from "./store.ts";

type PresentCredentials = Operations["presentCredentials"];

/**
 * Presents the current statements of all issuers about an agent, signed by the relay: revoked and expired ones are
 * omitted, and those of the relay itself are renewed.
 */
export async function presentCredentials(
  services: Pick<Services, "storage" | "runtime" | "identity" | "config" | "connections">,
  { params: { agentId }, query, body }: ParsedRequest<PresentCredentials>,
): Promise<Answer<PresentCredentials>> {
  const { storage, runtime, identity } = services;
  const now = runtime.now();
  const currentQuery = {
    agent_id: agentId,
    type: query.type ?? "",
    relays: JSON.stringify(identity.publicKeys.map(hexToDidKey)),
    now,
    limit: CREDENTIAL_LIMITS.maxCredentials,
  };
  const isExpired = ({ expires_at }: CredentialRow) => expires_at !== null && expires_at < now;
  let rows = await listCurrentCredentials(storage.read, currentQuery);
  if (rows.some(isExpired)) {
    await storage.transaction(async (tx) => {
      const due = (await listCurrentCredentials(tx, currentQuery)).filter(isExpired);
      for (const row of due.toReversed()) {
        const isRenewed = await renewCredential(tx, services, row);
        // A statement under a former key of the relay is renewed under its current key.
        if (isRenewed && row.issuer !== identity.did) await endCredentialSeries(tx, row);
      }
    });
    rows = (await listCurrentCredentials(storage.read, currentQuery)).filter(
      (row) => !isExpired(row),
    );
  }
  if (rows.length === 0) return refuse("credential.not_found");
  const credentials = keepFitting(rows, ({ body: text }) => text).map(parseCredential);
  const presentation = createPresentation({
    credentials,
    secretKey: identity.secretKey,
    now,
    ...body,
  });
  return {
    status: 200,
    body: {
      presentation: { ...presentation },
      credential_count: credentials.length,
      relay_did: identity.did,
    },
  };
}
