import { createPresentation, CREDENTIAL_LIMITS } from "@agent/credentials";
import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
import { refuse, type Answer, type Operations, type Parsed } from "@agent/wire";
import type { Services } from "../services.ts";
import type { CredentialRow } from "../storage/tables/credentials.ts";
import { documentOf } from "./credential-row.ts";
import { renew } from "./renew.ts";
import { currentCredentials, endCredentialLine } from "./store.ts";

type PresentCredentials = Operations["presentCredentials"];

/**
 * Shows under the relay's signature what every issuer says of an agent now: what is revoked or expired is
 * left out, and what the relay itself issued is renewed.
 */
export async function presentCredentials(
  services: Pick<Services, "storage" | "runtime" | "identity" | "config" | "connections">,
  { params: { agentId }, query, body }: Parsed<PresentCredentials>,
): Promise<Answer<PresentCredentials>> {
  const { storage, runtime, identity } = services;
  const now = runtime.now();
  const asked = {
    agent_id: agentId,
    type: query.type ?? "",
    relays: JSON.stringify(identity.publicKeys.map(didOf)),
    now,
    limit: CREDENTIAL_LIMITS.maxPresented,
  };
  const hasRunOut = ({ expires_at }: CredentialRow) => expires_at !== null && expires_at < now;
  let rows = await currentCredentials(storage.read, asked);
  if (rows.some(hasRunOut)) {
    await storage.transaction(async (tx) => {
      const due = (await currentCredentials(tx, asked)).filter(hasRunOut);
      for (const row of due.toReversed()) {
        const isRenewed = await renew(tx, services, row);
        // What was said under a former key of the relay is said under the present one from now on.
        if (isRenewed && row.issuer !== identity.did) await endCredentialLine(tx, row);
      }
    });
    rows = (await currentCredentials(storage.read, asked)).filter((row) => !hasRunOut(row));
  }
  if (rows.length === 0) return refuse("credential.not_found");
  const presentation = createPresentation({
    credentials: rows.map(documentOf),
    secretKey: identity.secretKey,
    now,
    ...body,
  });
  return {
    status: 200,
    body: {
      presentation: { ...presentation },
      credential_count: rows.length,
      relay_did: identity.did,
    },
  };
}

const didOf = (publicKey: string) => publicKeyToDidKey(hexToBytes(publicKey));
