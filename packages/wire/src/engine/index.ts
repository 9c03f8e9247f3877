/** The building blocks of a table of operations: rows, fields, and headers between relays. */
export { describeAs } from "./annotate-schema.ts";
export { type Extensible, extensibleEnum } from "./extensible-enum.ts";
export {
  agentId,
  capabilities,
  count,
  endpointUrl,
  finite,
  id,
  longText,
  looseObject,
  pageQuery,
  price,
  publicKey,
  ratio,
  shortText,
  timestamp,
  wholeNumber,
} from "./fields.ts";
export { defineOperation, type Operation } from "./operation.ts";
export { FEDERATION_HEADERS, FEDERATION_PREFIX, WITNESS_PREFIX } from "./peer-requests.ts";
