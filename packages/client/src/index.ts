export { looksLikeToken } from "./token-form.ts";
export { checkToken, mintToken, peekToken } from "./token.ts";
export type { MintOptions, TokenClaims, TokenCode, TokenRefusal } from "./token.ts";
