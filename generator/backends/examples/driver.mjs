// A driver for opcert in JavaScript: VariadicSplit-1, with nothing but Node.js 20 or newer.
//
//     opcert driver-check 'node driver.mjs'
//     opcert certify --backend 'driver:node driver.mjs'
//
// To make a driver of your own, copy it and replace the operators; the protocol stays.

const WIDTHS = {
  boolean: 1, i4: 1, u4: 1, i8: 1, u8: 1, f8e4m3: 1, f8e5m2: 1,
  bf16: 2, f16: 2, i16: 2, u16: 2, f32: 4, i32: 4, u32: 4, f64: 8, i64: 8, u64: 8,
};

// ----------------------------------------------------------------------------- operators

class Rejected extends Error {}

function check(condition, rule) {
  if (!condition) throw new Rejected(rule);
}

function integers(tensor) {
  check(/^[iu](8|16|32|64)$/.test(tensor.type), "an integer type");
  const width = WIDTHS[tensor.type];
  const read = {
    i8: "readInt8", u8: "readUInt8", i16: "readInt16LE", u16: "readUInt16LE",
    i32: "readInt32LE", u32: "readUInt32LE", i64: "readBigInt64LE", u64: "readBigUInt64LE",
  }[tensor.type];
  const count = tensor.bytes.length / width;
  return Array.from({ length: count }, (_, i) => BigInt(tensor.bytes[read](i * width)));
}

function product(extents) {
  return extents.reduce((a, b) => a * b, 1);
}

function variadicSplit({ data, axis, split_lengths }) {
  check(data && axis && split_lengths, "three inputs");
  check(axis.shape.length <= 1 && product(axis.shape) === 1, "axis is one integer");
  check(split_lengths.shape.length === 1, "split_lengths is a list");
  const rank = data.shape.length;
  let [where] = integers(axis);
  check(-rank <= where && where < rank, "axis is one of data's");
  where = Number(where < 0 ? where + BigInt(rank) : where);

  const extent = data.shape[where];
  const lengths = integers(split_lengths);
  const sum = lengths.filter((length) => length >= 0n).reduce((a, b) => a + b, 0n);
  const rests = lengths.filter((length) => length === -1n).length;
  check(lengths.every((length) => length >= -1n) && rests <= 1, "at most one length is -1");
  check(rests ? sum <= extent : sum == extent, "the lengths sum to the axis");

  const outer = product(data.shape.slice(0, where));
  const inner = product(data.shape.slice(where + 1)) * WIDTHS[data.type];
  let begin = 0;
  return lengths.map((length) => {
    const count = length < 0n ? extent - Number(sum) : Number(length);
    const rows = Array.from({ length: outer }, (_, row) => {
      const first = (row * extent + begin) * inner;
      return data.bytes.subarray(first, first + count * inner);
    });
    begin += count;
    return { type: data.type, shape: data.shape.with(where, count), bytes: Buffer.concat(rows) };
  });
}

const OPERATORS = { "openvino/VariadicSplit-1": variadicSplit };
const SUPPORT = { "openvino/VariadicSplit-1": { how: "native" } };

// ------------------------------------------------------------------------------ protocol

const chunks = process.stdin[Symbol.asyncIterator]();
let rest = Buffer.alloc(0);

async function chunk() {
  const { done, value } = await chunks.next();
  return done ? null : value;
}

async function readLine() {
  let end;
  while ((end = rest.indexOf("\n")) < 0) {
    const next = await chunk();
    if (next === null) return null;
    rest = Buffer.concat([rest, next]);
  }
  const line = rest.toString("utf8", 0, end);
  rest = rest.subarray(end + 1);
  return line;
}

async function readBytes(count) {
  const parts = [rest];
  for (let size = rest.length; size < count; size += parts.at(-1).length) {
    const next = await chunk();
    if (next === null) throw new Error("stdin ends within an array");
    parts.push(next);
  }
  const all = Buffer.concat(parts);
  rest = all.subarray(count);
  return all.subarray(0, count);
}

function write(message, tensors = []) {
  process.stdout.write(JSON.stringify(message) + "\n");
  for (const tensor of tensors) process.stdout.write(tensor.bytes);
}

async function answer(call) {
  const inputs = {};
  for (const input of call.inputs)
    inputs[input.name] = { ...input, bytes: await readBytes(input.bytes) };
  const operator = OPERATORS[call.operator];
  if (!operator) return write({ id: call.id, observed: "unsupported", reason: call.operator });
  try {
    const outputs = operator(inputs, call.attributes);
    const described = outputs.map((output) => ({ ...output, bytes: output.bytes.length }));
    write({ id: call.id, observed: "outputs", outputs: described }, outputs);
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    write({ id: call.id, observed: "rejected", reason: error.message });
  }
}

const handshake = JSON.parse(await readLine());
if (handshake.protocol !== 1) {
  write({ protocol: 1, error: "this driver implements protocol 1" });
} else if (Object.keys(handshake.options).length) {
  write({ protocol: 1, error: "this driver has no options" });
} else {
  write({ protocol: 1, name: "js-driver", version: "1.0", support: SUPPORT });
  for (let line; (line = await readLine()) !== null; ) await answer(JSON.parse(line));
}
