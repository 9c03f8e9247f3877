import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@agent/crypto";
import { x402Client, x402HTTPClient } from "@x402/core/client";
import type { PaymentRequirements } from "@x402/core/types";

/** An EIP-3009 authorization, as it is part of a payment. */
export interface Authorization {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
}

const keccak = (text: string) => keccak_256(utf8ToBytes(text));
const joined = (...parts: Uint8Array[]) => keccak_256(Buffer.concat(parts));
const word = (hex: string) => hexToBytes(hex.replace(/^0x/, "").toLowerCase().padStart(64, "0"));
const number = (text: string) => word(BigInt(text).toString(16));

/** Returns the hash of an authorization that a wallet signs (EIP-712, EIP-3009). */
function hashAuthorization(of: Authorization, requirements: PaymentRequirements): Uint8Array {
  const { network, asset, extra } = requirements;
  const domain = joined(
    keccak("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
    keccak(String(extra["name"])),
    keccak(String(extra["version"])),
    number(network.split(":")[1] ?? ""),
    word(asset),
  );
  const message = joined(
    keccak(
      "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)",
    ),
    word(of.from),
    word(of.to),
    number(of.value),
    number(of.validAfter),
    number(of.validBefore),
    word(of.nonce),
  );
  return joined(Uint8Array.of(0x19, 0x01), domain, message);
}

const toAddress = (publicKey: Uint8Array) =>
  `0x${bytesToHex(keccak_256(publicKey.slice(1)).slice(-20))}`;

/** Returns the signer of the authorization; undefined if the signature cannot be valid. */
export function recoverSigner(
  of: Authorization,
  signature: string,
  requirements: PaymentRequirements,
): string | undefined {
  try {
    const bytes = hexToBytes(signature.replace(/^0x/, ""));
    const recovered = Uint8Array.of((bytes[64] ?? 0) - 27, ...bytes.slice(0, 64));
    const key = secp256k1.recoverPublicKey(recovered, hashAuthorization(of, requirements), {
      prehash: false,
    });
    return toAddress(secp256k1.Point.fromBytes(key).toBytes(false));
  } catch {
    return undefined;
  }
}

export interface Wallet {
  readonly address: string;
  /** The official client, which uses this wallet. */
  readonly client: x402HTTPClient;
  /** Pays as a 402 requires; returns the header for the repeated request. */
  pay(required: Headers, change?: Partial<Authorization>): Promise<Record<string, string>>;
}

/** Opens a wallet with a separate key; `now` is in ms. */
export function openWallet(randomBytes: (length: number) => Uint8Array, now: () => number): Wallet {
  const secret = randomBytes(32);
  const address = toAddress(secp256k1.getPublicKey(secret, false));

  function authorize(requirements: PaymentRequirements, change: Partial<Authorization>) {
    const authorization: Authorization = {
      from: address,
      to: requirements.payTo,
      value: requirements.amount,
      validAfter: "0",
      validBefore: String(Math.floor(now() / 1_000) + requirements.maxTimeoutSeconds),
      nonce: `0x${bytesToHex(randomBytes(32))}`,
      ...change,
    };
    const signed = secp256k1.sign(hashAuthorization(authorization, requirements), secret, {
      prehash: false,
      format: "recovered",
    });
    const signature = `0x${bytesToHex(signed.slice(1))}${(27 + (signed[0] ?? 0)).toString(16)}`;
    return { authorization, signature };
  }

  const clientWith = (change: Partial<Authorization>) =>
    new x402HTTPClient(
      new x402Client().setSpendControls(false).register("eip155:84532", {
        scheme: "exact",
        createPaymentPayload: async (x402Version, requirements) => ({
          x402Version,
          payload: authorize(requirements, change),
        }),
      }),
    );

  return {
    address,
    client: clientWith({}),
    async pay(required, change = {}) {
      const http = clientWith(change);
      const asked = http.getPaymentRequiredResponse((name) => required.get(name));
      return http.encodePaymentSignatureHeader(await http.createPaymentPayload(asked));
    },
  };
}
