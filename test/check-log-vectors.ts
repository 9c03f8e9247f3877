import { bytesToHex, fromBase64, hexToBytes, sha256Hex, toBase64 } from "@agent/crypto";
import {
  answerAddCheckpoint,
  buildLogEntry,
  buildVerifierKey,
  compareHeads,
  cosignHead,
  countTiles,
  deriveLogKeys,
  type EntryKind,
  entryOf,
  formatEntryBundle,
  formatProofFile,
  formatTilePath,
  formatVerifierKey,
  hashLeaf,
  isSameArtifact,
  openCheckpoint,
  parseAddCheckpoint,
  parseCheckpoint,
  parseEntryBundle,
  parseLogEntry,
  parseProofFile,
  parseTilePath,
  parseVerifierKey,
  proveConsistency,
  proveInclusion,
  signCheckpoint,
  TreeEdge,
  type TrustedKeys,
  type VerifierKey,
  verifyConsistency,
  verifyEntryInclusion,
  verifyInclusion,
} from "@agent/transparency";

/** The verdict or value that was found for a vector, and the one that the vector states. */
export interface VectorResult {
  readonly title: string;
  readonly found: unknown;
  readonly expected: unknown;
}

interface NamedKey {
  readonly name: string;
  readonly type: 1 | 4;
  readonly seed: string;
  readonly public_key: string;
  readonly vkey: string;
}

interface TileOf {
  readonly level: number;
  readonly index: number;
  readonly width: number;
}

interface Proof {
  readonly proof: readonly string[];
  readonly code?: string;
  readonly why?: string;
}

/** The members of vectors/own/transparency.json. */
export interface LogVectors {
  readonly keys: {
    readonly relay_seed: string;
    readonly origin: string;
    readonly log: NamedKey;
    readonly own_witness: NamedKey;
    readonly witnesses: readonly NamedKey[];
  };
  readonly vkeys: readonly {
    readonly vkey: string;
    readonly name?: string;
    readonly type?: 1 | 4;
    readonly public_key?: string;
    readonly code?: string;
    readonly why?: string;
  }[];
  readonly entries: readonly {
    readonly kind: EntryKind;
    readonly time: number;
    readonly agent_id: string;
    readonly public_key: string | null;
    readonly ref: string | null;
    readonly artifact_hash: string;
    readonly entry: string;
    readonly leaf_hash: string;
    readonly of: unknown;
  }[];
  readonly entries_invalid: readonly {
    readonly entry: string;
    readonly code: string;
    readonly why: string;
  }[];
  readonly roots: readonly string[];
  readonly inclusion: readonly (Proof & { readonly index: number; readonly size: number })[];
  readonly inclusion_invalid: readonly (Proof & {
    readonly index: number;
    readonly size: number;
    readonly leaf_hash: string;
    readonly root: string;
  })[];
  readonly consistency: readonly (Proof & { readonly old: number; readonly size: number })[];
  readonly consistency_invalid: readonly (Proof & {
    readonly old: number;
    readonly size: number;
    readonly old_root: string;
    readonly root: string;
  })[];
  readonly tile_paths: readonly (TileOf & { readonly path: string })[];
  readonly entry_paths: readonly (Omit<TileOf, "level"> & { readonly path: string })[];
  readonly paths_invalid: readonly string[];
  readonly counting_tree: {
    readonly roots: readonly { readonly size: number; readonly root: string }[];
    readonly tiles_of: readonly { readonly size: number; readonly tiles: readonly object[] }[];
    readonly tiles: readonly (TileOf & { readonly sha256: string })[];
  };
  readonly entry_bundle: {
    readonly width: number;
    readonly length: number;
    readonly sha256: string;
    readonly first_2: string;
  };
  readonly checkpoints: readonly {
    readonly note?: string;
    /** Used for bytes that are not text. */
    readonly note_hex?: string;
    readonly why: string;
    readonly quorum?: number;
    readonly code?: string;
  }[];
  readonly add_checkpoint: {
    readonly time: number;
    readonly cases: readonly {
      readonly state: { readonly size: number; readonly root: string };
      readonly request: string;
      readonly status: number;
      readonly why: string;
      readonly answer?: string;
    }[];
  };
  readonly proof_files: readonly {
    readonly proof: string;
    readonly entry_index: number;
    readonly why: string;
    readonly quorum?: number;
    readonly code?: string;
  }[];
  readonly split_view: readonly {
    readonly a: string;
    readonly b: string;
    readonly proof?: readonly string[];
    readonly verdict: string | null;
    readonly why: string;
  }[];
}

type Refusable = { readonly ok: true } | { readonly ok: false; readonly code: string };

const codeOf = (result: Refusable) => (result.ok ? null : result.code);

/** Checks every vector of a transparency log; each result states its section and its position in it. */
export async function checkLogVectors(vectors: LogVectors): Promise<VectorResult[]> {
  return [
    ...checkKeys(vectors),
    ...checkEntries(vectors),
    ...checkValidProofs(vectors),
    ...(await buildProofs(vectors)),
    ...checkInvalidProofs(vectors),
    ...checkPaths(vectors),
    ...checkCountingTree(vectors),
    ...checkNotes(vectors),
    ...checkRequests(vectors),
    ...checkProofFiles(vectors),
    ...checkForks(vectors),
  ];
}

function parseKey(text: string): VerifierKey {
  const parsed = parseVerifierKey(text);
  if (!parsed.ok) throw new Error("a verifier key of the vectors is malformed");
  return parsed.key;
}

const readTrust = ({ keys }: LogVectors, quorum = 0): TrustedKeys => ({
  logKey: parseKey(keys.log.vkey),
  witnesses: keys.witnesses.map(({ vkey }) => parseKey(vkey)),
  quorum,
});

function* checkKeys({ keys, vkeys }: LogVectors): Iterable<VectorResult> {
  const derived = deriveLogKeys(hexToBytes(keys.relay_seed), { origin: keys.origin });
  const { log, own_witness: witness } = keys;
  yield { title: "log seed", found: bytesToHex(derived.secretKey), expected: log.seed };
  yield { title: "log key", found: formatVerifierKey(derived.logKey), expected: log.vkey };
  yield {
    title: "witness seed",
    found: bytesToHex(derived.witness.secretKey),
    expected: witness.seed,
  };
  yield {
    title: "witness key",
    found: formatVerifierKey(derived.witnessKey),
    expected: witness.vkey,
  };
  for (const [at, { vkey, name, type, public_key: key, code }] of vkeys.entries()) {
    const parsed = parseVerifierKey(vkey);
    yield { title: `vkeys ${at}`, found: codeOf(parsed), expected: code ?? null };
    if (name === undefined || type === undefined || key === undefined) continue;
    const built = buildVerifierKey(name, type, hexToBytes(key));
    yield { title: `vkeys ${at} again`, found: formatVerifierKey(built), expected: vkey };
  }
}

function* checkEntries({ entries, entries_invalid, entry_bundle }: LogVectors) {
  for (const [at, each] of entries.entries()) {
    const built = buildLogEntry({
      kind: each.kind,
      time: each.time,
      agentId: each.agent_id,
      publicKey: each.public_key,
      ref: each.ref,
      artifactHash: each.artifact_hash,
    });
    yield { title: `entries ${at}`, found: bytesToHex(built), expected: each.entry };
    yield { title: `leaf ${at}`, found: bytesToHex(hashLeaf(built)), expected: each.leaf_hash };
    const parsed = parseLogEntry(built);
    const found = parsed.ok && [parsed.entry.kind, parsed.entry.time, parsed.entry.artifactHash];
    const expected = [each.kind, each.time, each.artifact_hash];
    yield { title: `entries ${at} parsed`, found, expected };
    if (typeof each.of !== "object") continue;
    const of = each.of as never;
    const artifactEntry =
      each.kind === "key_bound" ? entryOf.keyBound(of, each) : entryOf.settlement(of, each);
    yield {
      title: `entries ${at} of its artifact`,
      found: bytesToHex(artifactEntry),
      expected: each.entry,
    };
  }
  for (const { entry, code, why } of entries_invalid) {
    const title = `entries_invalid ${why}`;
    yield { title, found: codeOf(parseLogEntry(hexToBytes(entry))), expected: code };
  }
  const all = entries.slice(0, entry_bundle.width).map(({ entry }) => hexToBytes(entry));
  const bundle = formatEntryBundle(all);
  yield { title: "entry_bundle", found: sha256Hex(bundle), expected: entry_bundle.sha256 };
  const parsed = parseEntryBundle(bundle, entry_bundle.width);
  yield { title: "entry_bundle parsed", found: parsed.ok && parsed.entries, expected: all };
}

function* checkValidProofs({ entries, roots, inclusion, consistency }: LogVectors) {
  const edge = new TreeEdge();
  for (const [size, root] of roots.entries()) {
    if (size > 0) edge.append(hexToBytes(entries[size - 1]!.leaf_hash));
    yield { title: `roots ${size}`, found: bytesToHex(edge.root()), expected: root };
  }
  for (const { index, size, proof } of inclusion) {
    const result = verifyInclusion({
      index,
      size,
      leaf: hexToBytes(entries[index]!.leaf_hash),
      proof: proof.map(fromBase64),
      root: hexToBytes(roots[size]!),
    });
    yield { title: `inclusion of ${index} in ${size}`, found: codeOf(result), expected: null };
  }
  for (const { old, size, proof } of consistency) {
    const result = verifyConsistency({
      oldSize: old,
      size,
      oldRoot: hexToBytes(roots[old]!),
      root: hexToBytes(roots[size]!),
      proof: proof.map(fromBase64),
    });
    yield { title: `consistency of ${old} with ${size}`, found: codeOf(result), expected: null };
  }
}

async function buildProofs({ entries, inclusion, consistency }: LogVectors) {
  const results: VectorResult[] = [];
  const edge = new TreeEdge();
  for (const { leaf_hash } of entries) edge.append(hexToBytes(leaf_hash));
  const readTile = (_level: number, _index: number, width: number) =>
    edge.getPartialTile(0).subarray(0, width * 32);
  for (const { index, size, proof } of inclusion) {
    const found = (await proveInclusion(index, size, readTile)).map(toBase64);
    results.push({ title: `inclusion of ${index} in ${size} built`, found, expected: proof });
  }
  for (const { old, size, proof } of consistency) {
    const found = (await proveConsistency(old, size, readTile)).map(toBase64);
    results.push({ title: `consistency of ${old} with ${size} built`, found, expected: proof });
  }
  return results;
}

function* checkInvalidProofs({ inclusion_invalid, consistency_invalid }: LogVectors) {
  for (const [
    at,
    { index, size, leaf_hash, root, proof, code, why },
  ] of inclusion_invalid.entries()) {
    const result = verifyInclusion({
      index,
      size,
      leaf: hexToBytes(leaf_hash),
      proof: proof.map(fromBase64),
      root: hexToBytes(root),
    });
    yield { title: `inclusion_invalid ${at}: ${why}`, found: codeOf(result), expected: code };
  }
  for (const [
    at,
    { old, size, old_root, root, proof, code, why },
  ] of consistency_invalid.entries()) {
    const result = verifyConsistency({
      oldSize: old,
      size,
      oldRoot: hexToBytes(old_root),
      root: hexToBytes(root),
      proof: proof.map(fromBase64),
    });
    yield { title: `consistency_invalid ${at}: ${why}`, found: codeOf(result), expected: code };
  }
}

function* checkPaths({
  tile_paths,
  entry_paths,
  paths_invalid,
}: LogVectors): Iterable<VectorResult> {
  const paths = [
    ...tile_paths,
    ...entry_paths.map((path) => ({ ...path, level: "entries" as const })),
  ];
  for (const { path, level, index, width } of paths) {
    yield { title: `path ${path}`, found: formatTilePath(level, index, width), expected: path };
    const expected = { ok: true, level, index, width };
    yield { title: `path ${path} parsed`, found: parseTilePath(path), expected };
  }
  for (const path of paths_invalid) {
    const title = `paths_invalid ${path}`;
    yield { title, found: codeOf(parseTilePath(path)), expected: "log.malformed" };
  }
}

function* checkCountingTree({ counting_tree: { roots, tiles_of, tiles } }: LogVectors) {
  for (const { size, tiles: expected } of tiles_of) {
    yield { title: `tiles_of ${size}`, found: countTiles(size), expected };
  }
  const edge = new TreeEdge();
  const full = new Map<string, Uint8Array>();
  for (const { size, root } of roots) {
    while (edge.size < size) {
      const leaf = new Uint8Array(4);
      new DataView(leaf.buffer).setUint32(0, edge.size);
      for (const { level, index, hashes } of edge.append(hashLeaf(leaf))) {
        full.set(`${level}/${index}`, hashes);
      }
    }
    yield { title: `counting_tree ${size}`, found: bytesToHex(edge.root()), expected: root };
  }
  for (const { level, index, width, sha256 } of tiles) {
    const whole = full.get(`${level}/${index}`) ?? edge.getPartialTile(level);
    const found = sha256Hex(whole.slice(0, width * 32));
    yield { title: `tile ${level}/${index} of ${width}`, found, expected: sha256 };
  }
}

function* checkNotes(vectors: LogVectors) {
  const { keys, checkpoints } = vectors;
  for (const { note, note_hex = "", quorum, code, why } of checkpoints) {
    const opened = openCheckpoint(note ?? hexToBytes(note_hex), readTrust(vectors, quorum));
    const title = `checkpoint: ${why}, quorum ${quorum ?? 0}`;
    yield { title, found: codeOf(opened), expected: code ?? null };
  }
  const [signed = "", cosigned] = checkpoints.map(({ note }) => note);
  const parsed = parseCheckpoint(signed);
  if (!parsed.ok) throw new Error("the first checkpoint is malformed");
  const again = signCheckpoint(parsed.head, hexToBytes(keys.log.seed));
  yield { title: "checkpoint signed again", found: again, expected: signed };
  const { name, seed } = keys.witnesses[0]!;
  const witness = { name, secretKey: hexToBytes(seed) };
  const line = cosignHead(parsed.head, witness, vectors.add_checkpoint.time);
  yield { title: "checkpoint cosigned again", found: again + line, expected: cosigned };
}

function* checkRequests(vectors: LogVectors): Iterable<VectorResult> {
  const {
    keys,
    add_checkpoint: { time, cases },
  } = vectors;
  const { name, seed } = keys.witnesses[0]!;
  const witness = { name, secretKey: hexToBytes(seed) };
  for (const [at, { state, request, status, answer = null, why }] of cases.entries()) {
    const parsed = parseAddCheckpoint(request);
    const logKey = parseKey(keys.log.vkey);
    const known = { logKey, size: state.size, root: hexToBytes(state.root) };
    const answered = parsed.ok
      ? answerAddCheckpoint(
          parsed.request,
          parsed.request.head.origin === logKey.name ? known : undefined,
          { witness, time },
        )
      : parsed;
    const found = [answered.status, "body" in answered ? answered.body : null];
    yield { title: `add_checkpoint ${at}: ${why}`, found, expected: [status, answer] };
  }
}

function* checkProofFiles(vectors: LogVectors): Iterable<VectorResult> {
  for (const { proof, entry_index, quorum, code, why } of vectors.proof_files) {
    const expected = hexToBytes(vectors.entries[entry_index]!.entry);
    const found = codeOf(checkProofFile(proof, expected, readTrust(vectors, quorum)));
    yield { title: `proof_files ${entry_index}: ${why}`, found, expected: code ?? null };
    if (code !== undefined) continue;
    const parsed = parseProofFile(proof);
    const again = parsed.ok && formatProofFile(parsed);
    yield { title: `proof_files ${entry_index} formatted`, found: again, expected: proof };
  }
}

function checkProofFile(text: string, expected: Uint8Array, trust: TrustedKeys): Refusable {
  const file = parseProofFile(text);
  if (!file.ok) return file;
  const entry = file.entry ?? new Uint8Array();
  const parsed = parseLogEntry(entry);
  if (!parsed.ok) return parsed;
  if (!isSameArtifact(entry, expected)) return { ok: false, code: "log.entry_mismatch" };
  const opened = openCheckpoint(file.checkpoint, trust);
  if (!opened.ok) return opened;
  return verifyEntryInclusion({ ...opened.head, entry, index: file.index, proof: file.proof });
}

function* checkForks(vectors: LogVectors): Iterable<VectorResult> {
  for (const { a, b, proof = [], verdict, why } of vectors.split_view) {
    const [left, right] = [a, b].map((note) => openCheckpoint(note, readTrust(vectors)));
    const found =
      left?.ok === true && right?.ok === true
        ? codeOf(compareHeads(left.head, right.head, proof.map(fromBase64)))
        : "not opened";
    yield { title: `split_view: ${why}`, found, expected: verdict };
  }
}
