import { crc32, deflateRawSync } from "node:zlib";

const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS =
	"http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships";

/** Returns a zip archive with these parts, packed or stored as they are. */
export function makeZip(
	parts: Readonly<Record<string, string | Buffer>>,
	isStored = false,
): Buffer<ArrayBuffer> {
	const files: Buffer[] = [];
	const list: Buffer[] = [];
	let offset = 0;
	for (const [name, content] of Object.entries(parts)) {
		const bytes = Buffer.from(content as string);
		const packed = isStored ? bytes : deflateRawSync(bytes);
		const facts = Buffer.alloc(26);
		facts.writeUInt16LE(20, 0);
		facts.writeUInt16LE(isStored ? 0 : 8, 4);
		facts.writeUInt32LE(crc32(bytes), 10);
		facts.writeUInt32LE(packed.length, 14);
		facts.writeUInt32LE(bytes.length, 18);
		facts.writeUInt16LE(Buffer.byteLength(name), 22);
		const local = [Buffer.from("PK\x03\x04"), facts, Buffer.from(name), packed];
		const rest = Buffer.alloc(14);
		rest.writeUInt32LE(offset, 10);
		list.push(Buffer.from("PK\x01\x02\x14\0"), facts, rest, Buffer.from(name));
		files.push(...local);
		offset += Buffer.concat(local).length;
	}
	const end = Buffer.alloc(22);
	end.write("PK\x05\x06");
	end.writeUInt16LE(Object.keys(parts).length, 8);
	end.writeUInt16LE(Object.keys(parts).length, 10);
	end.writeUInt32LE(Buffer.concat(list).length, 12);
	end.writeUInt32LE(offset, 16);
	return Buffer.concat([...files, ...list, end]);
}

interface SheetXml {
	name: string;
	state?: "hidden" | "veryHidden";
	/** The rows, such as `<row r="1"><c r="A1"><v>1</v></c></row>`. */
	rows: string;
	/** What follows the rows, such as merged cells. */
	after?: string;
}

/** Returns a workbook in the form in which Excel and LibreOffice write it. */
export function makeWorkbook(
	sheets: readonly SheetXml[],
	{
		texts = [],
		formats = [],
		is1904 = false,
		isStored = false,
		extra = {},
	}: {
		/** The shared texts: plain, or the content of an element `si`. */
		texts?: readonly string[];
		/** The codes of the formats that cells refer to from `s="1"`. A number is a built-in one. */
		formats?: readonly (string | number)[];
		is1904?: boolean;
		isStored?: boolean;
		/** Parts besides the usual ones, or in their place. */
		extra?: Readonly<Record<string, string>>;
	} = {},
): Buffer<ArrayBuffer> {
	const own = formats.map((format, at) => ({
		id: typeof format === "number" ? format : 164 + at,
		code: typeof format === "number" ? undefined : escapeXml(format),
	}));
	const parts = {
		"[Content_Types].xml": "<Types/>",
		"_rels/.rels": `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}"><Relationship Id="a" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml": `<?xml version="1.0"?><workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><workbookPr${is1904 ? ' date1904="1"' : ""}/><sheets>${sheets
			.map(
				({ name, state }, at) =>
					`<sheet name="${escapeXml(name)}" sheetId="${at + 1}"${state ? ` state="${state}"` : ""} r:id="r${at}"/>`,
			)
			.join("")}</sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships xmlns="${PACKAGE}">${sheets
			.map(
				(_, at) =>
					`<Relationship Id="r${at}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${at + 1}.xml"/>`,
			)
			.join(
				"",
			)}<Relationship Id="s" Type="${RELATIONS}/styles" Target="/xl/styles.xml"/><Relationship Id="t" Type="${RELATIONS}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
		"xl/styles.xml": `<styleSheet xmlns="${MAIN}"><numFmts>${own
			.map(({ id, code }) =>
				code === undefined
					? ""
					: `<numFmt numFmtId="${id}" formatCode="${code}"/>`,
			)
			.join(
				"",
			)}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${own
			.map(({ id }) => `<xf numFmtId="${id}" applyNumberFormat="1"/>`)
			.join("")}</cellXfs></styleSheet>`,
		"xl/sharedStrings.xml": `<sst xmlns="${MAIN}">${texts
			.map((text) =>
				text.startsWith("<") ? `<si>${text}</si>` : `<si><t>${text}</t></si>`,
			)
			.join("")}</sst>`,
		...Object.fromEntries(
			sheets.map(({ rows, after = "" }, at) => [
				`xl/worksheets/sheet${at + 1}.xml`,
				`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData>${after}</worksheet>`,
			]),
		),
	};
	return makeZip({ ...parts, ...extra }, isStored);
}

/** Returns rows of texts, as cells that contain their text themselves. */
export function inlineRows(
	rows: readonly (readonly string[])[],
	first = 1,
): string {
	return rows
		.map(
			(cells, at) =>
				`<row r="${first + at}">${cells
					.map((cell) =>
						cell === ""
							? "<c/>"
							: `<c t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`,
					)
					.join("")}</row>`,
		)
		.join("");
}

function escapeXml(text: string): string {
	return text
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll('"', "&quot;");
}
