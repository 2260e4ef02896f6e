#!/bin/sh
# Starts the queue's Redis or the cache's. Its settings go in by standard input: a command line can
# be read by everybody.
set -eu

case $1 in
queue) # keeps what it was given; when it is full it says so
    rules='~esrag:q:* resetchannels +@all -@admin -@dangerous +info'
    memory='maxmemory-policy noeviction
appendonly yes'
    ;;
cache) # may lose anything, and forgets what is asked for least
    rules='~esrag:c:* -@all +get +set +mget +del +unlink +scan +hincrbyfloat +hgetall +ping +hello +client +select +info +eval +evalsha'
    memory='maxmemory-policy allkeys-lfu
save ""'
    ;;
*)
    echo "redis.sh queue|cache, got $1" >&2
    exit 1
    ;;
esac

case $REDIS_PASSWORD in *[!A-Za-z0-9]* | '')
    echo 'a password in .env must be letters and digits, as "make env" writes them' >&2
    exit 1
    ;;
esac

exec redis-server - <<SETTINGS
bind * -::*
dir ${REDIS_DATA:-/data}
port ${REDIS_PORT:-6379}
maxmemory 256mb
$memory
user default off
user esrag on >$REDIS_PASSWORD resetkeys $rules
SETTINGS
