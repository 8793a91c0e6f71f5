import { Modal, type ModalProps } from "@mantine/core";
import { useLayoutEffect, useState } from "react";

/**
 * The renders from the first one with the closed dialog to the one that opens it. Mantine's portal
 * takes the first two, and a dialog that it shows at once would not fade in.
 */
const RENDERS = 3;

/**
 * A Modal that renders nothing until it first opens. A closed one costs as much as three table rows,
 * and a page has up to five.
 */
export function LateModal(props: ModalProps) {
	const { opened } = props;
	const [renders, setRenders] = useState(opened ? RENDERS : 0);
	useLayoutEffect(() => {
		if (opened && renders < RENDERS) setRenders(renders + 1);
	}, [opened, renders]);
	if (renders === 0) return null;
	return <Modal {...props} opened={opened && renders === RENDERS} />;
}
