package main

// scripts returns all scripts, in the order of the report.
func scripts() []script {
	return join(
		connectionScripts, channelScripts,
		exchangeScripts, queueScripts, argumentScripts, bindingScripts,
		publishScripts, confirmScripts, getScripts, consumeScripts, settleScripts, txScripts,
		ttlScripts, leaseScripts, deadLetterScripts, purgeScripts,
		alternateScripts, routingScripts, copyScripts,
		priorityScripts, overflowScripts, replyScripts, queueTypeScripts, raceScripts,
		nowaitScripts, reuseScripts, sharedLimitScripts, moreTxScripts, exchangeLinkScripts, moreHeadersScripts, moreCopyScripts, moreConnectionScripts,
	)
}
