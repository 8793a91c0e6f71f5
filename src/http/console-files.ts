import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";
import { COMMAND } from "../version.ts";
import { nothingHere } from "./admission.ts";
import { acceptsEncoding } from "./compression.ts";

/** The files of the console's build, in memory. Requests can read only the paths listed here. */
export interface ConsoleFiles {
	/** The HTML page, with placeholders. Each response replaces NONCE_PLACEHOLDER with its own nonce. */
	index: string;
	/** The files by path, such as `/assets/index-1a2b3c4d.js`. */
	assets: ReadonlyMap<string, Asset>;
	/** The agent as one file for Node, and `program.json`, which describes that file. */
	agent?: ReadonlyMap<string, Buffer>;
}

interface Asset {
	type: string;
	/** True if the file's name changes with its content. */
	isHashed: boolean;
	identity: Buffer;
	br?: Buffer;
	gzip?: Buffer;
}

/** Text that stands for the nonce in the built page (console/index.html). */
const NONCE_PLACEHOLDER = /__NONCE__/g;
/** Text that stands for the name of the command in the built page (console/index.html). */
const COMMAND_PLACEHOLDER = "__COMMAND__";
const TYPES: Record<string, string> = {
	".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
	".png": "image/png",
	".ttf": "font/ttf",
	".woff2": "font/woff2",
};
/** Features that the page must not use. The console needs only the clipboard, for "Copy". */
const PERMISSIONS = [
	"camera",
	"display-capture",
	"geolocation",
	"microphone",
	"payment",
	"usb",
]
	.map((feature) => `${feature}=()`)
	.concat("clipboard-write=(self)")
	.join(", ");
/** Folder of the build that contains the agent. Its files are served with the agent's packages. */
const AGENT_FOLDER = "/agent/";
const YEAR_SECONDS = 31_536_000;
/** Paths that never show the console's page, whatever type the request accepts. */
const NOT_PAGES = /^\/(api|health|\.well-known|assets|metrics)(\/|$)/;

/** Reads a build of the console into memory. `ensureConsole` makes that build. */
export async function readConsoleFiles(folder: string): Promise<ConsoleFiles> {
	const contents = new Map<string, Buffer>();
	const entries = await readdir(folder, {
		recursive: true,
		withFileTypes: true,
	});
	for (const entry of entries) {
		if (!entry.isFile()) continue;
		const path = join(entry.parentPath, entry.name);
		const url = `/${relative(folder, path).split(sep).join("/")}`;
		contents.set(url, await readFile(path));
	}
	const index = contents.get("/index.html");
	if (!index)
		throw new Error(
			`${folder} contains no build of the console; run \`npm run build:console\``,
		);
	const assets = new Map<string, Asset>();
	const agent = new Map<string, Buffer>();
	for (const [url, identity] of contents) {
		if (url.startsWith(AGENT_FOLDER)) {
			agent.set(url.slice(AGENT_FOLDER.length), identity);
			continue;
		}
		const type = TYPES[extname(url)];
		if (!type) continue;
		const [br, gzip] = [contents.get(`${url}.br`), contents.get(`${url}.gz`)];
		assets.set(url, {
			type,
			isHashed: url.startsWith("/assets/"),
			identity,
			...(br && { br }),
			...(gzip && { gzip }),
		});
	}
	return { index: index.toString(), assets, agent };
}

/**
 * Serves the console below `/`. Its files have their own paths, and every other path that a browser
 * may open gets the page. If there is no build, `webConsole` is a message that says so, and the
 * rest of the service works without the console. The callback `onPage` runs for each page that is
 * sent. A browser that opens a page soon sends calls, so the service can prepare for them.
 */
export function addConsoleFiles(
	app: FastifyInstance,
	webConsole: ConsoleFiles | string,
	onPage: () => void = () => {},
): void {
	app.get("/*", { config: { admits: "visitor" } }, async (request, reply) => {
		const path = request.url.split("?", 1)[0] ?? "/";
		if (typeof webConsole !== "string") {
			const asset = webConsole.assets.get(path);
			if (asset) return sendAsset(request, reply, asset);
		}
		if (NOT_PAGES.test(path)) throw nothingHere();
		if (!acceptsPage(request)) {
			throw new AppError(
				"not_found",
				"there is nothing for programs at this address; if it is a link of Assay, open it in a browser",
			);
		}
		if (typeof webConsole !== "string") {
			onPage();
			return sendPage(reply, webConsole.index);
		}
		return reply
			.status(503)
			.type("text/plain; charset=utf-8")
			.send(`${webConsole}\nDevices and AI clients are served as usual.\n`);
	});
}

function sendAsset(
	request: FastifyRequest,
	reply: FastifyReply,
	asset: Asset,
): FastifyReply {
	reply.headers({
		"content-type": asset.type,
		"cache-control": asset.isHashed
			? `public, max-age=${YEAR_SECONDS}, immutable`
			: "no-cache",
		vary: "accept-encoding",
	});
	for (const encoding of ["br", "gzip"] as const) {
		const content = asset[encoding];
		if (!content || !acceptsEncoding(request.headers, encoding)) continue;
		return reply.header("content-encoding", encoding).send(content);
	}
	return reply.send(asset.identity);
}

/**
 * Sends the page of the console with a content security policy, which permits only the service's own
 * scripts and styles. Style elements that the interface creates at run time must carry the
 * response's nonce.
 */
function sendPage(reply: FastifyReply, index: string): FastifyReply {
	const nonce = randomBytes(16).toString("base64");
	return reply
		.headers({
			"content-type": "text/html; charset=utf-8",
			"cache-control": "no-cache",
			"content-security-policy": [
				"default-src 'none'",
				"script-src 'self'",
				`style-src 'self' 'nonce-${nonce}'`,
				// Style attributes set the width of a bar or the position of a menu. They cannot run code
				// or reach another host.
				"style-src-attr 'unsafe-inline'",
				"img-src 'self' data:",
				"font-src 'self'",
				"connect-src 'self'",
				// Previews of files. Their own policy says what they may do.
				"frame-src 'self'",
				"base-uri 'none'",
				"object-src 'none'",
				"form-action 'self'",
				"frame-ancestors 'none'",
			].join("; "),
			"cross-origin-opener-policy": "same-origin",
			"permissions-policy": PERMISSIONS,
			"x-frame-options": "DENY",
		})
		.send(
			index
				.replace(NONCE_PLACEHOLDER, nonce)
				.replace(COMMAND_PLACEHOLDER, COMMAND),
		);
}

function acceptsPage({ headers }: FastifyRequest): boolean {
	return /text\/html/i.test(headers.accept ?? "");
}
