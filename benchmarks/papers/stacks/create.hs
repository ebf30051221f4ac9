-- Threads are made one after the other; see create.scm.
import Control.Concurrent
import System.Environment

main :: IO ()
main = runInUnboundThread $ do
  arguments <- getArgs
  let count = case arguments of { (n : _) -> read n; [] -> 1000 }
  place <- newEmptyMVar
  let loop :: Int -> Int -> IO Int
      loop number total
        | number == count = return total
        | otherwise = do
            _ <- forkIO (putMVar place $! number `mod` 7)
            n <- takeMVar place
            loop (number + 1) $! total + n
  loop 0 0 >>= print
