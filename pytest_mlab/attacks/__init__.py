"""What a cheater might try, from within the sandbox, and the baits that show what worked.

`inside` runs where an agent's scripts run and prints what it could get hold of; `baits` lies around
it, outside, and takes nobody's word: what was found is compared with what there is to find.
"""
