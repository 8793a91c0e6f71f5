import { Button, Menu } from "@mantine/core";
import {
	IconDownload,
	IconFileTypeDocx,
	IconFileTypePdf,
	IconMarkdown,
} from "@tabler/icons-react";
import { useState } from "react";
import { useOrganization } from "../../../organization.ts";
import { dayOf, formatDay } from "../../../parts/days.ts";
import { inWords } from "../../../parts/names-in-words.ts";
import { showFailure } from "../../../parts/show-failure.ts";
import { saveFile } from "../../../save-file.ts";
import { STATUSES, type Version } from "./statuses.ts";

/** Saves a version as PDF, as a Word document or as Markdown. */
export function ExportVersion({
	version,
	classification,
}: {
	version: Version;
	classification: string;
}) {
	const { organization } = useOrganization();
	const [isSaving, setSaving] = useState(false);
	const save = async (work: () => Promise<void>) => {
		setSaving(true);
		try {
			await work();
		} catch (error) {
			showFailure("Not saved", (error as Error).message);
		} finally {
			setSaving(false);
		}
	};
	const name = `${version.title} v${version.version_number}`.replace(
		/[\\/:*?"<>|]/g,
		"_",
	);
	const frame = {
		title: version.title,
		head: organization.name,
		foot: `${inWords(classification)} · Version ${version.version_number} · ${stateOf(version)}`,
	};
	const asPdf = async () => {
		const { versionToPdf } = await import("./version-pdf.ts");
		await versionToPdf(`${name}.pdf`, frame, version);
	};
	const asDocx = async () => {
		const { versionToDocx } = await import("./version-docx.ts");
		await versionToDocx(`${name}.docx`, frame, version);
	};
	const asMarkdown = async () =>
		saveFile(
			`${name}.md`,
			new Blob([version.content], { type: "text/markdown;charset=utf-8" }),
		);
	return (
		<Menu position="bottom-end">
			<Menu.Target>
				<Button
					variant="default"
					loading={isSaving}
					leftSection={<IconDownload size={16} aria-hidden />}
				>
					Export
				</Button>
			</Menu.Target>
			<Menu.Dropdown>
				<Menu.Item
					leftSection={<IconFileTypePdf size={16} aria-hidden />}
					onClick={() => save(asPdf)}
				>
					PDF
				</Menu.Item>
				<Menu.Item
					leftSection={<IconFileTypeDocx size={16} aria-hidden />}
					onClick={() => save(asDocx)}
				>
					Word (DOCX)
				</Menu.Item>
				<Menu.Item
					leftSection={<IconMarkdown size={16} aria-hidden />}
					onClick={() => save(asMarkdown)}
				>
					Markdown
				</Menu.Item>
			</Menu.Dropdown>
		</Menu>
	);
}

/** Returns what a page says about the state of a version. */
function stateOf({ status, published_at }: Version): string {
	return published_at
		? `Published ${formatDay(dayOf(new Date(published_at)))}`
		: STATUSES[status].label;
}
