import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A store in memory, at the address `origin`. */
export interface TestS3Store {
	origin: string;
	stored: Map<string, { body: Buffer; at: Date }>;
	/** What every PUT gets, if it is set. */
	failure: { status: number; code: string } | undefined;
	close: () => void;
}

/**
 * Starts a store that speaks as much S3 as Assay needs, with the bucket `bucket`. It checks the hash
 * of a body, and takes signatures of the key `id` without computing them: a test of the signatures
 * does that with Amazon's example.
 */
export async function startS3Store(): Promise<TestS3Store> {
	const stored: TestS3Store["stored"] = new Map();
	const server = createServer(async (request, response) => {
		const body = await buffer(request);
		const { pathname, searchParams } = new URL(request.url ?? "", store.origin);
		const name = decodeURIComponent(pathname).replace("/bucket/", "");
		const answer = (status: number, text: string | Buffer = "") =>
			response.writeHead(status).end(text);
		const hash = createHash("sha256").update(body).digest("hex");
		const found = stored.get(name);
		if (
			!request.headers.authorization?.includes("Credential=id/") ||
			request.headers["x-amz-content-sha256"] !== hash
		) {
			answer(403, "<Error><Code>SignatureDoesNotMatch</Code></Error>");
		} else if (!/^\/bucket(\/|$)/.test(pathname)) {
			answer(404, "<Error><Code>NoSuchBucket</Code></Error>");
		} else if (store.failure && request.method === "PUT") {
			const { status, code } = store.failure;
			answer(status, `<Error><Code>${code}</Code></Error>`);
		} else if (request.method === "PUT") {
			stored.set(name, { body, at: new Date() });
			answer(200);
		} else if (request.method === "DELETE") {
			answer(stored.delete(name) ? 204 : 404);
		} else if (request.method === "HEAD") {
			if (found) response.setHeader("content-length", found.body.length);
			response.writeHead(found ? 200 : 404).end();
		} else if (searchParams.has("list-type")) {
			answer(200, list(stored, searchParams));
		} else if (found) {
			answer(200, found.body);
		} else {
			answer(404, "<Error><Code>NoSuchKey</Code></Error>");
		}
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	const { port } = server.address() as AddressInfo;
	const store: TestS3Store = {
		origin: `http://127.0.0.1:${port}`,
		stored,
		failure: undefined,
		close: () => server.close(),
	};
	return store;
}

/** Lists two names at a time, so that a whole list needs several answers. */
function list(stored: TestS3Store["stored"], query: URLSearchParams): string {
	const from = Number(query.get("continuation-token") ?? 0);
	const names = [...stored.keys()]
		.filter((name) => name.startsWith(query.get("prefix") ?? ""))
		.sort();
	const parts = names.slice(from, from + 2).map((name) => {
		const key = encodeURIComponent(name).replaceAll("%20", "+");
		const at = stored.get(name)?.at.toISOString();
		return `<Contents><Key>${key}</Key><LastModified>${at}</LastModified></Contents>`;
	});
	const next =
		from + 2 < names.length
			? `<NextContinuationToken>${from + 2}</NextContinuationToken>`
			: "";
	return `<ListBucketResult>${next}${parts.join("")}</ListBucketResult>`;
}
