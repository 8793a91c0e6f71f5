import { AppError, badFields } from "../errors.ts";
import { extensionOf } from "./file-names.ts";

/** Form of a file's bytes, as far as they tell it. */
type Form = "pdf" | "png" | "jpeg" | "gif" | "webp" | "zip" | "ole" | "text";

interface FileType {
	contentType: string;
	form: Form;
	/** A name that only the archives of this type contain. */
	member?: string;
}

const OOXML = "application/vnd.openxmlformats-officedocument";
const ODF = "application/vnd.oasis.opendocument";

/**
 * The types of files that the service accepts, by the extension of their names. Evidence is
 * documents, images, tables, texts and archives. Programs and web pages are none of these.
 */
const TYPES: Readonly<Record<string, FileType>> = {
	pdf: { contentType: "application/pdf", form: "pdf" },
	png: { contentType: "image/png", form: "png" },
	jpg: { contentType: "image/jpeg", form: "jpeg" },
	jpeg: { contentType: "image/jpeg", form: "jpeg" },
	gif: { contentType: "image/gif", form: "gif" },
	webp: { contentType: "image/webp", form: "webp" },
	docx: {
		contentType: `${OOXML}.wordprocessingml.document`,
		form: "zip",
		member: "word/",
	},
	xlsx: {
		contentType: `${OOXML}.spreadsheetml.sheet`,
		form: "zip",
		member: "xl/",
	},
	pptx: {
		contentType: `${OOXML}.presentationml.presentation`,
		form: "zip",
		member: "ppt/",
	},
	odt: { contentType: `${ODF}.text`, form: "zip", member: "content.xml" },
	ods: {
		contentType: `${ODF}.spreadsheet`,
		form: "zip",
		member: "content.xml",
	},
	odp: {
		contentType: `${ODF}.presentation`,
		form: "zip",
		member: "content.xml",
	},
	doc: { contentType: "application/msword", form: "ole" },
	xls: { contentType: "application/vnd.ms-excel", form: "ole" },
	ppt: { contentType: "application/vnd.ms-powerpoint", form: "ole" },
	msg: { contentType: "application/vnd.ms-outlook", form: "ole" },
	zip: { contentType: "application/zip", form: "zip" },
	txt: { contentType: "text/plain", form: "text" },
	log: { contentType: "text/plain", form: "text" },
	md: { contentType: "text/markdown", form: "text" },
	csv: { contentType: "text/csv", form: "text" },
	json: { contentType: "application/json", form: "text" },
	xml: { contentType: "application/xml", form: "text" },
	yaml: { contentType: "application/yaml", form: "text" },
	yml: { contentType: "application/yaml", form: "text" },
	eml: { contentType: "message/rfc822", form: "text" },
};

export const EXTENSIONS = Object.keys(TYPES);

/** Types that a browser may show inside the console. The others are only downloaded. */
const SHOWN: ReadonlySet<string> = new Set([
	"application/pdf",
	"image/gif",
	"image/jpeg",
	"image/png",
	"image/webp",
]);

export function canBeShown(contentType: string): boolean {
	return SHOWN.has(contentType);
}

/** The first bytes of each form. A text has none. */
const SIGNATURES: readonly (readonly [Form, Buffer])[] = [
	["pdf", Buffer.from("%PDF-")],
	["png", Buffer.from("89504e470d0a1a0a", "hex")],
	["jpeg", Buffer.from("ffd8ff", "hex")],
	["gif", Buffer.from("GIF8")],
	["zip", Buffer.from("PK\u0003\u0004")],
	["zip", Buffer.from("PK\u0005\u0006")],
	["ole", Buffer.from("d0cf11e0a1b11ae1", "hex")],
];
/** Number of first bytes that are enough to tell the form. */
const ENOUGH = 16;
/** Number of last bytes of an archive in which its list of members is looked for. */
export const ARCHIVE_END = 256 * 1024;

function formOf(start: Buffer): Form {
	for (const [form, signature] of SIGNATURES) {
		if (start.subarray(0, signature.length).equals(signature)) return form;
	}
	const isWebp =
		start.toString("latin1", 0, 4) === "RIFF" &&
		start.toString("latin1", 8, 12) === "WEBP";
	return isWebp ? "webp" : "text";
}

/**
 * Checks while a file arrives that its bytes are what the extension of its name says. Each method
 * throws bad_request as soon as they are not.
 */
export class TypeCheck {
	readonly #extension: string;
	readonly #type: FileType;
	readonly #decoder = new TextDecoder("utf-8", { fatal: true });
	#start: Buffer = Buffer.alloc(0);
	#isTold = false;

	/** Throws bad_request if the service does not accept files with this extension. */
	constructor(fileName: string) {
		this.#extension = extensionOf(fileName);
		const type = Object.hasOwn(TYPES, this.#extension)
			? TYPES[this.#extension]
			: undefined;
		if (!type) {
			const message = `must end in one of ${EXTENSIONS.map((one) => `.${one}`).join(", ")}; put another file into a zip archive`;
			throw badFields([{ field: "file_name", message }]);
		}
		this.#type = type;
	}

	get contentType(): string {
		return this.#type.contentType;
	}

	get isArchive(): boolean {
		return this.#type.form === "zip";
	}

	/** Looks at the next bytes of the file. */
	add(bytes: Buffer): void {
		if (!this.#isTold) {
			this.#start = Buffer.concat([this.#start, bytes.subarray(0, ENOUGH)]);
			if (this.#start.length >= ENOUGH) this.#tell();
		}
		if (this.#type.form === "text") this.#readText(bytes);
	}

	/** Looks at the end of the file. `tail` has the last bytes of an archive. */
	end(tail: Buffer): void {
		if (!this.#isTold) this.#tell();
		if (this.#type.form === "text") this.#readText(undefined);
		const { member } = this.#type;
		if (member !== undefined && !tail.includes(member)) throw this.#lies();
	}

	#tell(): void {
		this.#isTold = true;
		if (formOf(this.#start) !== this.#type.form) throw this.#lies();
	}

	#readText(bytes: Buffer | undefined): void {
		let text: string;
		try {
			text = this.#decoder.decode(bytes, { stream: bytes !== undefined });
		} catch {
			throw this.#lies();
		}
		// A text has no NUL, and a program nearly always has one.
		if (text.includes("\0")) throw this.#lies();
	}

	#lies(): AppError {
		const what =
			this.#type.form === "text" ? "text in UTF-8" : `a .${this.#extension}`;
		return new AppError(
			"bad_request",
			`the content of the file is not ${what}, as its name says; check the file and its name`,
		);
	}
}
