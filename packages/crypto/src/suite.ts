/** The `suite` member of every stored artifact that is signed over its canonical JSON. */
export const SUITE = "agent-jcs-ed25519-b64-v1";
