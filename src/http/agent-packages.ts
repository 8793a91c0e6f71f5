import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { PackageFolder } from "../agent-packages/package-folder.ts";
import { LIST_NAME } from "../agent-packages/package-list.ts";
import type { OfferedFile } from "../agent-packages/read-folder.ts";
import {
	isSameState,
	openRegularFile,
} from "../agent-packages/regular-file.ts";
import { AppError, overloaded } from "../errors.ts";
import { networkOf } from "../load/sign-in-queue.ts";
import { nothingHere } from "./admission.ts";
import type { AddressOf } from "./client-address.ts";

/** Path below which the service offers the packages of the agent. */
export const PACKAGES_PATH = "/agent-packages/";

/** Largest number of downloads at a time. Further ones get 503 with Retry-After. */
export const MAX_DOWNLOADS = 64;
/** Milliseconds without progress after which a download ends. */
const IDLE_MS = 30_000;

const TYPES: Record<string, string> = {
	json: "application/json; charset=utf-8",
	deb: "application/vnd.debian.binary-package",
	rpm: "application/x-rpm",
	msi: "application/x-msi",
	xml: "application/xml",
	gz: "application/gzip",
	asc: "text/plain; charset=utf-8",
};

/** Files without an extension are lists: Packages, Release, InRelease and SHA256SUMS. */
const typeOf = (name: string) =>
	TYPES[name.split(".").at(-1) ?? ""] ??
	(name.includes(".")
		? "application/octet-stream"
		: "text/plain; charset=utf-8");

/**
 * Adds the downloads of the agent: the packages in the operator's folder, and the files in
 * `program`, which are the agent as one file for Node and its description. Everybody may read them,
 * because a device has no credential before it enrolls and the files contain no secret.
 */
export function addAgentPackages(
	app: FastifyInstance,
	addressOf: AddressOf,
	folder: PackageFolder | undefined,
	program: ReadonlyMap<string, Buffer> = new Map(),
): void {
	const takeSlot = makeSlots(MAX_DOWNLOADS);
	app.get(
		`${PACKAGES_PATH}*`,
		{ config: { admits: "visitor" } },
		async (request, reply) => {
			// apt puts ./ before the names in a repository without suites.
			const name = (request.params as { "*": string })["*"].replace(
				/^\.\//,
				"",
			);
			if (name === LIST_NAME) {
				const list = await folder?.list();
				// The console asks for the list, and a browser would report 404 as an error.
				if (!list) return reply.status(204).send();
				return reply.header("cache-control", "no-cache").send(list);
			}
			const file = await folder?.find(name);
			const own = file ? undefined : program.get(name);
			if (own) {
				reply.type(typeOf(name)).header("cache-control", "no-cache");
				return reply.send(own);
			}
			if (!file) throw nothingHere();
			const etag = `"${file.modifiedMs.toString(36)}-${file.bytes.toString(36)}"`;
			reply.headers({
				etag,
				"last-modified": new Date(file.modifiedMs).toUTCString(),
				"cache-control": "no-cache",
			});
			if (isUnchanged(request.headers, etag, file)) {
				return reply.status(304).send();
			}
			reply.type(typeOf(name)).header("content-length", file.bytes);
			// Without a stream, Fastify would announce a length of 0.
			if (request.method === "HEAD") return reply.send(Readable.from([]));
			const free = takeSlot(networkOf(addressOf(request.raw) ?? ""));
			if (!free) throw overloaded();
			reply.raw.once("close", free);
			reply.raw.setTimeout(IDLE_MS, () => reply.raw.destroy());
			return reply.send(await openUnchanged(file));
		},
	);
}

/**
 * Makes the function that takes one of `count` slots for a network. It returns the function that
 * frees the slot, or undefined if the network gets none. A network may take as many slots as it
 * leaves free: half of them if it is alone, such as an office behind one address, and half of the
 * rest if another network has its half. The last slot goes to a network that has none.
 */
function makeSlots(
	count: number,
): (network: string) => (() => void) | undefined {
	const taken = new Map<string, number>();
	let free = count;
	return (network) => {
		const own = taken.get(network) ?? 0;
		if (own >= free) return undefined;
		taken.set(network, own + 1);
		free--;
		return () => {
			const left = (taken.get(network) ?? 0) - 1;
			if (left > 0) taken.set(network, left);
			else taken.delete(network);
			free++;
		};
	};
}

/**
 * Opens a file for a download. Throws if it is not the file whose checksum was compared, for example
 * because somebody has just copied another version over it.
 */
async function openUnchanged(file: OfferedFile): Promise<Readable> {
	const opened = await openRegularFile(file.path).catch(() => undefined);
	if (!opened) throw nothingHere();
	if (!isSameState(opened.state, file)) {
		await opened.handle.close();
		throw new AppError(
			"service_unavailable",
			"the file has just changed; retry in a minute, when the service has looked at it again",
		);
	}
	// The file may grow while it is read, and the length was announced.
	return opened.handle.createReadStream({ end: Math.max(0, file.bytes - 1) });
}

function isUnchanged(
	headers: Record<string, unknown>,
	etag: string,
	{ modifiedMs }: OfferedFile,
): boolean {
	const known = headers["if-none-match"];
	if (typeof known === "string") return known === etag;
	const since = Date.parse(String(headers["if-modified-since"] ?? ""));
	return Math.floor(modifiedMs / 1000) * 1000 <= since;
}
