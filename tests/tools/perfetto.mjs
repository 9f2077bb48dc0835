// SPDX-License-Identifier: GPL-2.0-or-later
//
// Perfetto's own trace processor, as its user interface has it: a worker in WebAssembly. Reads the trace and answers each line of
// SQL of the standard input with rows, columns apart by tabs, and an empty line.
//
//     node perfetto.mjs DIR TRACE
//
// DIR has the files of the trace processor: engine.mjs, engine_bundle.node.js, trace_processor.wasm.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [dir, trace] = process.argv.slice(2);
const { EngineBase } = await import(pathToFileURL(`${dir}/engine.mjs`));
const { port1, port2 } = new MessageChannel();

// What the worker finds in a browser.
const self = { location: { href: 'file:///engine.js' } };
class XMLHttpRequest {
	open() {}
	send() { this.response = readFileSync(`${dir}/trace_processor.wasm`); }
}
// The file is for pointers of 32 bits, also where 64 are possible: the worker tries a module with such a memory.
const assembly = Object.create(WebAssembly, {
	Module: {
		value: function (bytes) {
			if (bytes[8] === 5)
				throw new Error('no memory of 64 bits');
			return new WebAssembly.Module(bytes);
		},
	},
});
new Function('self', 'XMLHttpRequest', 'process', 'WebAssembly', 'WorkerGlobalScope',
	readFileSync(`${dir}/engine_bundle.node.js`, 'utf8'))(self, XMLHttpRequest, undefined, assembly, {});

class Engine extends EngineBase {
	mode = 'WASM';
	id = 'test';
	constructor() {
		super();
		port1.onmessage = (message) => this.onRpcResponseBytes(message.data);
		self.onmessage({ data: port2 });
	}
	rpcSendRequestBytes(data) { port1.postMessage(data); }
}

console.log = console.warn = () => {}; // what the engine says of itself
const engine = new Engine();
try {
	await engine.parse(new Uint8Array(readFileSync(trace)));
	await engine.notifyEof();
	for await (const sql of createInterface({ input: process.stdin })) {
		const result = await engine.query(sql), columns = result.columns();
		const rows = result.iter(Object.fromEntries(columns.map((column) => [column, undefined])));

		for (; rows.valid(); rows.next())
			process.stdout.write(columns.map((column) => rows.get(column)).join('\t') + '\n');
		process.stdout.write('\n');
	}
} catch (error) {
	console.error(error.message ?? error);
	process.exit(1);
}
process.exit(0);
