export { type EnvelopeContext, checkEnvelope } from "./envelope.ts";
export {
  isAnswerSigned,
  parseRequestClaim,
  type RequestClaim,
  signAnswer,
  type SignedRequest,
  signRequest,
  type VerifyRequestResult,
  verifyRequest,
  verifyRequestAsync,
} from "./request-signature.ts";
export {
  type ResultAcceptance,
  ResultAcceptanceSchema,
  createResultAcceptance,
  parseResultAcceptance,
} from "./result-acceptance.ts";
export {
  type ReceivedMessage,
  verifySignedMessage,
  verifySignedMessageAsync,
} from "./signed-message.ts";
export { FEDERATION_HEADERS } from "@agent/wire/engine";
