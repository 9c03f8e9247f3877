// bs58 6 exports its types under a condition that ES module resolution never uses.
declare module "bs58" {
  const base58btc: {
    encode(bytes: Uint8Array): string;
    decodeUnsafe(text: string): Uint8Array | undefined;
  };
  export default base58btc;
}
