import { useRef, useState } from "react";
import type { KindDescription } from "../../kind-description.ts";
import type { ChosenFile } from "./import-file.ts";
import {
	type ChosenSheet,
	type ChosenWorkbook,
	openChosenFile,
	readChosenSheet,
} from "./import-workbook.ts";

/** The reader's choices, and what the page knows of the file so far. */
export interface Chosen {
	name: string;
	isReading: boolean;
	/** Counts what was chosen, so that each table gets its own preview. */
	number: number;
	table?: ChosenFile | ChosenSheet;
	workbook?: ChosenWorkbook;
	/** Why the file or the sheet cannot be imported. */
	problem?: string;
}

/** Reads the file that is chosen for an import, and the sheet if it is a workbook. */
export function useChosenFile(kind: KindDescription) {
	const [chosen, setChosen] = useState<Chosen>();
	const counted = useRef(0);

	/** Shows that something is read, and then what was read, unless the reader chose again. */
	const show = async (
		begin: Omit<Chosen, "isReading" | "number">,
		read: (
			progress: (known: Partial<Chosen>) => void,
		) => Promise<Partial<Chosen>>,
	) => {
		const number = ++counted.current;
		let known: Chosen = { ...begin, number, isReading: true };
		const add = (more: Partial<Chosen>) => {
			known = { ...known, ...more };
			if (counted.current === number) setChosen(known);
		};
		add({});
		try {
			add({ ...(await read(add)), isReading: false });
		} catch (error) {
			add({ problem: (error as Error).message, isReading: false });
		}
	};
	return {
		chosen,
		choose: (file: File) =>
			show({ name: file.name }, async (progress) => {
				const read = await openChosenFile(file, kind);
				if (!("workbook" in read)) return { table: read };
				progress({ workbook: read });
				return { table: await readChosenSheet(read, read.sheet, kind) };
			}),
		chooseSheet: (opened: ChosenWorkbook, sheet: number) => {
			const workbook = { ...opened, sheet };
			return show({ name: opened.name, workbook }, async () => ({
				table: await readChosenSheet(workbook, sheet, kind),
			}));
		},
		chooseHeadings: (workbook: ChosenWorkbook, row: number) =>
			show({ name: workbook.name, workbook }, async () => ({
				table: await readChosenSheet(workbook, workbook.sheet, kind, row),
			})),
		forget: () => {
			counted.current += 1;
			setChosen(undefined);
		},
	};
}
