import {
	Anchor,
	Group,
	Stack,
	Text,
	Tooltip,
	UnstyledButton,
} from "@mantine/core";
import { IconAlertTriangle, IconExternalLink } from "@tabler/icons-react";
import { Fragment, type ReactNode, useContext } from "react";
import { isScale, scaleOf } from "../../../../src/records/scales.ts";
import type { FieldDescription } from "../../kind-description.ts";
import { choiceLabel } from "../../kinds.ts";
import { checkLabel } from "../devices/check-label.ts";
import { endOfId } from "../devices/device-name.ts";
import { TextLink } from "../links.tsx";
import { PlainText } from "../plain-text.tsx";
import { StatusBadge } from "../status-badge.tsx";
import { CalendarDate, DateTime } from "../time.tsx";
import { type Names, NamesOfList } from "./record-names.ts";
import { factorsOf } from "./risk-scores.ts";
import { ScoreBadge } from "./score-badge.tsx";
import { toneOf } from "./tones.ts";

/**
 * The largest width of a cell in px. A sentence fits into it. A longer text is cut off after two
 * lines.
 */
export const MAX_CELL = 360;

interface Shown {
	field: FieldDescription;
	value: unknown;
	/** The names of the records that the fields refer to. */
	names: Names;
	/** The device checks that count while nobody has chosen any. */
	implied?: unknown;
}

/** Shows the value of a field. If `organizationId` is given, references become links. */
export function FieldValue({
	field,
	value,
	names,
	implied,
	organizationId,
}: Shown & { organizationId: string }) {
	if (isEmpty(value) && field.type !== "checks") return <Empty />;
	if (field.type === "text" || field.type === "name") {
		return (
			<PlainText
				inherit
				style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
			>
				{String(value)}
			</PlainText>
		);
	}
	if (field.type === "url") return <WebAddress url={String(value)} />;
	if (field.type === "email") return <Mail address={String(value)} />;
	if (field.type === "emails" && Array.isArray(value)) {
		return (
			<Stack gap={2}>
				{value.map((address) => (
					<Mail key={address} address={address} />
				))}
			</Stack>
		);
	}
	const { reference } = field;
	if (reference) {
		const ids = Array.isArray(value) ? value : [String(value)];
		return (
			<Stack gap={2} align="flex-start">
				{ids.map((id: string) => (
					<TextLink
						key={id}
						to="/o/$org/r/$kind/$id"
						params={{ org: organizationId, kind: reference, id }}
					>
						{nameIn(names, id)}
					</TextLink>
				))}
			</Stack>
		);
	}
	if (isScale(field) && typeof value === "number") {
		return (
			<PlainText
				inherit
			>{`${value} – ${scaleOf(field.name)[value - 1] ?? ""}`}</PlainText>
		);
	}
	return (
		<ShortValue field={field} value={value} names={names} implied={implied} />
	);
}

/**
 * Shows a value in one or two lines without links, for a table cell or a list of changes. Without
 * `names`, the names of records are those of the list around it.
 */
export function ShortValue({
	field,
	value,
	names,
	implied,
}: Omit<Shown, "names"> & { names?: Names }): ReactNode {
	if (field.type === "checks")
		return <Checks value={value} implied={implied} />;
	if (isEmpty(value)) return <Empty />;
	if (field.type === "check") return checkLabel(String(value));
	if (field.type === "choice") {
		const label = choiceLabel(field, String(value));
		const tone = toneOf(field.name, String(value));
		return tone ? <StatusBadge tone={tone} label={label} /> : label;
	}
	if (field.type === "date") return <CalendarDate value={String(value)} />;
	if (field.type === "datetime") return <DateTime value={String(value)} />;
	if (factorsOf(field.name)) return <ScoreBadge score={Number(value)} />;
	if (isPercent(field)) return `${value}%`;
	const all = (Array.isArray(value) ? value : [value]).map(String);
	return (
		<PlainText
			inherit
			lineClamp={2}
			maw={MAX_CELL}
			style={{ overflowWrap: "break-word" }}
		>
			{field.reference ? (
				<NamesIn names={names} ids={all} />
			) : (
				all.map((one) => choiceLabel(field, one)).join(", ")
			)}
		</PlainText>
	);
}

function NamesIn({
	names,
	ids,
}: {
	names: Names | undefined;
	ids: readonly string[];
}) {
	const around = useContext(NamesOfList);
	return ids.map((id) => nameIn(names ?? around, id)).join(", ");
}

/** Marks a value that should be checked, and gives the reason. */
export function Questioned({
	children,
	hint,
}: {
	children: ReactNode;
	hint: { text: string; isOverdue?: boolean } | undefined;
}) {
	if (!hint) return <Fragment>{children}</Fragment>;
	return (
		<Group gap={6} wrap="nowrap">
			<Tooltip
				label={hint.text}
				multiline
				maw={280}
				events={{ hover: true, focus: true, touch: true }}
			>
				<UnstyledButton
					aria-label={hint.text}
					style={{ flexShrink: 0, lineHeight: 0, padding: 4, margin: -4 }}
				>
					<IconAlertTriangle
						size={16}
						aria-hidden
						color="var(--mantine-color-orange-8)"
					/>
				</UnstyledButton>
			</Tooltip>
			{hint.isOverdue ? (
				<Text component="div" size="sm" c="var(--mantine-color-error)">
					Overdue, {children}
				</Text>
			) : (
				children
			)}
		</Group>
	);
}

/** Returns true for a share in percent. */
export function isPercent({ name }: FieldDescription): boolean {
	return name.endsWith("_percent");
}

function isEmpty(value: unknown): boolean {
	return (
		value === null ||
		value === undefined ||
		value === "" ||
		(Array.isArray(value) && value.length === 0)
	);
}

function nameIn(names: Names, id: string): string {
	if (names.has(id)) return names.get(id) ?? `Unnamed (${endOfId(id)})`;
	return names.isComplete ? `Deleted (${endOfId(id)})` : "…";
}

/**
 * Shows chosen device checks. Null means that nobody has chosen, which is not the same as none: the
 * number in the framework then implies some.
 */
function Checks({ value, implied }: { value: unknown; implied: unknown }) {
	if (Array.isArray(value)) {
		return value.length === 0 ? "None" : value.map(checkLabel).join(", ");
	}
	if (!Array.isArray(implied)) return "Those of its number in the framework";
	return implied.length === 0
		? "None: no check tests controls of this number"
		: `${implied.map(checkLabel).join(", ")}, by its number in the framework`;
}

function Empty() {
	return (
		<PlainText inherit span c="dimmed" aria-label="Empty">
			–
		</PlainText>
	);
}

function Mail({ address }: { address: string }) {
	return (
		<Anchor
			// The address is encoded. Otherwise "x@example.com?bcc=…" would add recipients to the mail.
			href={`mailto:${encodeURIComponent(address).replace("%40", "@")}`}
			style={{ overflowWrap: "anywhere" }}
		>
			{address}
		</Anchor>
	);
}

function WebAddress({ url }: { url: string }) {
	return (
		<Anchor
			href={url}
			target="_blank"
			rel="noreferrer noopener"
			style={{ overflowWrap: "anywhere" }}
		>
			{url.replace(/^https?:\/\//, "")}{" "}
			<IconExternalLink
				size={14}
				role="img"
				aria-label="(opens another page)"
				style={{ verticalAlign: "-2px" }}
			/>
		</Anchor>
	);
}
