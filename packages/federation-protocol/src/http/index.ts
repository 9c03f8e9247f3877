export { peerOperations, type PeerOperations } from "./peer-operations.ts";
