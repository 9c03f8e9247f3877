import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { listCredentials } from "./list-credentials.ts";
import { presentCredentials } from "./present-credentials.ts";
import { credentialStatus, revokeCredential } from "./revocation.ts";
import { submitCredentials } from "./submit-credentials.ts";
import { verifyCredential } from "./verify-credential.ts";

type CredentialHandlers = Pick<
  Handlers,
  | "listCredentials"
  | "submitCredentials"
  | "presentCredentials"
  | "verifyCredential"
  | "revokeCredential"
  | "credentialStatus"
>;

export function credentialHandlers(services: Services): CredentialHandlers {
  return {
    listCredentials: ({ params, query }) => listCredentials(services, params.agentId, query),
    submitCredentials: ({ params, body }, { caller }) =>
      submitCredentials(services, params.agentId, body.credentials, caller),
    presentCredentials: (input) => presentCredentials(services, input),
    verifyCredential: ({ body }, { text }) => verifyCredential(services, { value: body, text }),
    revokeCredential: ({ params, body }, { caller }) =>
      revokeCredential(services, params.agentId, body, caller),
    credentialStatus: ({ params }) => credentialStatus(services, params.credentialId),
  };
}
