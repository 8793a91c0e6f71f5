import { Badge } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./plain-badge.module.css";

const { root, section, label: text } = Badge.classes;
const ROOT = `${root} ${styles.root}`;

/**
 * Looks like Mantine's Badge of the variant "default". Its elements are plain, because a list has a
 * badge or two in each row.
 */
export function PlainBadge({
	label,
	left,
	paddingLeft,
}: {
	label: string;
	/** The sign before the label. */
	left: ReactNode;
	/** The room before the sign, in px. */
	paddingLeft: number;
}) {
	return (
		<div className={ROOT} style={{ paddingLeft }} data-with-left-section>
			<span className={section} data-position="left">
				{left}
			</span>
			<span className={text}>{label}</span>
		</div>
	);
}
