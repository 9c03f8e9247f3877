import type { createAgent } from "./fixtures.ts";

// The packages have no types; these declare the parts in use.

interface Suite {
  readonly type: string;
}

interface VcOptions {
  readonly documentLoader: (url: string) => Promise<object>;
  readonly suite: Suite;
  readonly now: Date;
}

/** The values that a presentation is bound to. */
interface Bound {
  readonly challenge: string;
  readonly domain: string;
}

interface VcPackage {
  issue(options: VcOptions & { credential: object }): Promise<object>;
  verifyCredential(options: VcOptions & { credential: object }): Promise<{ verified: boolean }>;
  createPresentation(options: {
    verifiableCredential: readonly object[];
    holder: string;
    now: Date;
  }): object;
  signPresentation(options: VcOptions & Bound & { presentation: object }): Promise<object>;
  verify(options: VcOptions & Bound & { presentation: object }): Promise<{ verified: boolean }>;
}

interface DataIntegrityPackage {
  readonly DataIntegrityProof: new (options: {
    cryptosuite: object;
    signer?: object;
    date?: string;
  }) => Suite;
}

interface CryptosuitePackage {
  createSignCryptosuite(): object;
  createVerifyCryptosuite(): object;
}

interface DidKeyPackage {
  driver(): {
    use(options: { multibaseMultikeyHeader: string; fromMultibase: object }): void;
    get(options: { url: string }): Promise<object>;
  };
}

interface MultikeyPackage {
  readonly from: object;
  generate(options: { id: string; controller: string; seed: Uint8Array }): Promise<{
    signer(): object;
  }>;
}

const load = async <Package>(name: string) =>
  (await import(`@digitalbazaar/${name}`)) as unknown as Package;

const vc = await load<VcPackage>("vc");
const { DataIntegrityProof } = await load<DataIntegrityPackage>("data-integrity");
const cryptosuites = await load<CryptosuitePackage>("eddsa-jcs-2022-cryptosuite");
const multikey = await load<MultikeyPackage>("ed25519-multikey");
const didKeys = (await load<DidKeyPackage>("did-method-key")).driver();
didKeys.use({ multibaseMultikeyHeader: "z6Mk", fromMultibase: multikey.from });

/** Resolves a did:key by computation; nothing else is loaded and no network is used. */
async function documentLoader(url: string) {
  if (!url.startsWith("did:key:")) throw new Error(`would load ${url}`);
  return { contextUrl: null, documentUrl: url, document: await didKeys.get({ url }) };
}

function verifying(now: number): VcOptions {
  const cryptosuite = cryptosuites.createVerifyCryptosuite();
  return {
    suite: new DataIntegrityProof({ cryptosuite }),
    documentLoader,
    now: new Date(now),
  };
}

type Signer = ReturnType<typeof createAgent>;

async function signing({ did, method, secretKey }: Signer, now: number): Promise<VcOptions> {
  const key = await multikey.generate({ id: method, controller: did, seed: secretKey });
  const suite = new DataIntegrityProof({
    cryptosuite: cryptosuites.createSignCryptosuite(),
    signer: key.signer(),
    date: new Date(now).toISOString(),
  });
  return { suite, documentLoader, now: new Date(now) };
}

/** Returns whether their verifier accepts the credential. */
export async function verifyWithReference(credential: object, now: number): Promise<boolean> {
  return (await vc.verifyCredential({ ...verifying(now), credential })).verified;
}

/** Returns whether their verifier accepts the presentation and each credential in it. */
export async function verifyPresentationWithReference(
  presentation: object,
  bound: Bound,
  now: number,
): Promise<boolean> {
  return (await vc.verify({ ...verifying(now), ...bound, presentation })).verified;
}

/** Signs the credential with their library. */
export async function issueWithReference(
  credential: object,
  signer: Signer,
  now: number,
): Promise<object> {
  return vc.issue({ ...(await signing(signer, now)), credential: structuredClone(credential) });
}

/** Signs a presentation with their library. */
export async function presentWithReference(
  credentials: readonly object[],
  bound: Bound,
  signer: Signer,
  now: number,
): Promise<object> {
  const presentation = vc.createPresentation({
    verifiableCredential: structuredClone(credentials),
    holder: signer.did,
    now: new Date(now),
  });
  return vc.signPresentation({ ...(await signing(signer, now)), ...bound, presentation });
}
